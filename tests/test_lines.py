"""The report of lines that no test ran."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lines import VARIABLE, report, spans
from tests.paths import ROOT

pytestmark = pytest.mark.slow  # each case runs pytest in a process of its own


@pytest.mark.parametrize(
    ("numbers", "said"), [([], ""), ([4], "4"), ([3, 1, 2], "1-3"), ([1, 2, 5, 7, 8], "1-2, 5, 7-8")]
)
def test_spans(numbers: list[int], said: str) -> None:
    assert spans(numbers) == said


def test_report() -> None:
    files = {
        "explorer/whole.py": {"executed_lines": [1, 2, 3], "missing_lines": []},
        "explorer/half.py": {"executed_lines": [1], "missing_lines": [2]},
    }
    assert report(files) == [" 50.0%  explorer/half.py: 2", "80.0% of 5 lines were run"]


@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_a_test_runs_is_counted_here_and_in_a_worker(tmp_path: Path, processes: str) -> None:
    """tests/model/test_masks.py runs all of model/masks.py, and little of model/analysis/importance.py."""
    tests = ["tests/model/test_masks.py", "-q", "-n", processes, "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment[VARIABLE] = str(tmp_path)
    command = [sys.executable, "-m", "pytest", *tests]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert not any("model/masks.py" in line for line in lines)
    assert any("model/analysis/importance.py" in line for line in lines)
    assert any(line.endswith("lines were run") for line in lines)
