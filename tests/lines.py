"""Which lines of `model/` and `explorer/` the tests run: `HEADLIGHT_LINES=DIR python -m pytest` prints it at the end.

Each test process writes its counts to DIR, and the main process merges them. Lines that run only in other processes (a
command, the server behind a browser) are not counted, so the share printed is a lower bound.
"""

from __future__ import annotations

import io
import json
import os
from functools import reduce
from pathlib import Path

import pytest

from tests.paths import ROOT

VARIABLE = "HEADLIGHT_LINES"
EXCLUDED = [r"if TYPE_CHECKING:", r"^\s*\.\.\.$", r"if __name__ == .__main__.:"]


class Lines:
    """Counts the lines run in modules imported from now on, and reports those never run."""

    def __init__(self, folder: Path) -> None:
        import slipcover

        self._folder = folder
        sources = [str(ROOT / room) for room in ("model", "explorer")]
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

        seen = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self._folder.glob("*.json"))]
        whole, report = reduce(slipcover.merge_coverage, seen), io.StringIO()
        slipcover.print_coverage(whole, outfile=report, missing_width=100, skip_covered=True)
        terminalreporter.section("lines of model/ and explorer/ that no test ran")
        terminalreporter.write(report.getvalue())
        terminalreporter.write_line(f"{whole['summary']['percent_covered']:.1f} % of all lines were run")


def start() -> Lines | None:
    """Start counting if HEADLIGHT_LINES is set; call it before model/ or explorer/ are imported."""
    folder = os.environ.get(VARIABLE)
    return Lines(Path(folder)) if folder else None
