"""Which lines of `model/` and `explorer/` the tests run: `HEADLIGHT_LINES=DIR python -m pytest` prints it at the end.

Every process of the run leaves what it saw in DIR; the first one puts it together. Lines that only another process
runs (a command, a server behind a browser) are not seen, so the share that is printed is a lower bound.
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
    """Watches imports from now on, counts, and reports."""

    def __init__(self, folder: Path) -> None:
        import slipcover

        self._folder = folder
        sources = [str(ROOT / room) for room in ROOMS]
        self._counter = slipcover.Slipcover(source=sources, exclude_lines=EXCLUDED)
        slipcover.ImportManager(self._counter, slipcover.FileMatcher(sources=sources)).__enter__()

    def pytest_sessionfinish(self) -> None:
        """Leave what this process saw; its name is its own."""
        self._folder.mkdir(parents=True, exist_ok=True)
        seen = json.dumps(self._counter.get_coverage())
        (self._folder / f"{os.getpid()}.json").write_text(seen, encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Add up, in the process that writes the report, after all others have ended."""
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
    """A line for each file that lacks some, and the total."""
    lines, n_run, n_all = [], 0, 0
    for name, found in sorted(files.items()):
        run, missing = len(found["executed_lines"]), found["missing_lines"]
        n_run, n_all = n_run + run, n_all + run + len(missing)
        if missing:
            lines.append(f"{run / (run + len(missing)):6.1%}  {Path(name).as_posix()}: {spans(missing)}")
    return [*lines, f"{n_run / max(1, n_all):.1%} of {n_all:,} lines were run"]


def spans(numbers: list[int]) -> str:
    """Numbers as ranges: [1, 2, 3, 7] → "1-3, 7"."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def start() -> Lines | None:
    """Begin, if somebody asked for it; before anything of ours was imported."""
    folder = os.environ.get(VARIABLE)
    return Lines(Path(folder)) if folder else None
