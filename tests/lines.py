"""Which lines of `model/` and `explorer/` the tests run: `HEADLIGHT_LINES=DIR python -m pytest` prints it at the end.

Each test process writes its counts to DIR, and the main process merges them. Lines that run only in other processes (a
command, the server behind a browser) are not counted, so the share printed is a lower bound.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

ROOMS = ("model", "explorer")
VARIABLE = "HEADLIGHT_LINES"
EXCLUDED = [r"if TYPE_CHECKING:", r"^\s*\.\.\.$", r"if __name__ == .__main__.:"]


class Lines:
    """Counts the lines run in modules imported from now on, and reports those never run."""

    def __init__(self, folder: Path) -> None:
        import slipcover

        self._folder = folder
        sources = [str(ROOT / room) for room in ROOMS]
        self._counter = slipcover.Slipcover(source=sources, exclude_lines=EXCLUDED)
        slipcover.ImportManager(self._counter, slipcover.FileMatcher(sources=sources)).__enter__()

    def pytest_sessionfinish(self) -> None:
        """Write the counts of this process to a file named by its id."""
        self._folder.mkdir(parents=True, exist_ok=True)
        seen = json.dumps(self._counter.get_coverage())
        (self._folder / f"{os.getpid()}.json").write_text(seen, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Merge the counts, in the process that writes the report, after all others have ended."""
        import slipcover

        total: dict[str, Any] = {}
        for path in sorted(self._folder.glob("*.json")):
            seen = json.loads(path.read_text(encoding="utf-8"))
            if total:
                slipcover.merge_coverage(total, seen)
            else:
                total = seen
        terminalreporter.section("lines of model/ and explorer/ that no test ran")
        for line in report(total["files"]):
            terminalreporter.write_line(line)


def report(files: dict[str, Any]) -> list[str]:
    """One line for each file with lines not run, then the total."""
    lines, n_run, n_all = [], 0, 0
    for name, counts in sorted(files.items()):
        run, missing = len(counts["executed_lines"]), counts["missing_lines"]
        n_run, n_all = n_run + run, n_all + run + len(missing)
        if missing:
            lines.append(f"{run / (run + len(missing)):6.1%}  {Path(name).as_posix()}: {spans(missing)}")
    return [*lines, f"{n_run / max(1, n_all):.1%} of {n_all:,} lines were run"]


def spans(numbers: list[int]) -> str:
    """Numbers as ranges: [1, 2, 3, 7] → "1-3, 7"."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)


def start() -> Lines | None:
    """Start counting if HEADLIGHT_LINES is set; call it before model/ or explorer/ are imported."""
    folder = os.environ.get(VARIABLE)
    return Lines(Path(folder)) if folder else None
