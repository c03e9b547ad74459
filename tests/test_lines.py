"""The report of lines that no test ran."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lines import VARIABLE
from tests.paths import ROOT


@pytest.mark.slow  # pytest in a process of its own
@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_a_test_runs_is_counted_here_and_in_a_worker(tmp_path: Path, processes: str) -> None:
    """tests/model/test_masks.py runs all of model/masks.py, and little of model/analysis/importance.py."""
    tests = ["tests/model/test_masks.py", "-q", "-n", processes, "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment[VARIABLE] = str(tmp_path)
    command = [sys.executable, "-m", "pytest", *tests]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "model/masks.py" not in run.stdout
    assert "model/analysis/importance.py" in run.stdout
    assert " % of all lines were run" in run.stdout
