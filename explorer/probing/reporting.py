"""Progress callbacks for long computations."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[float, str], None]
"""Called with the share that is done, 0 to 1, and what is being done; may raise to stop the work."""


def unheard(done: float, words: str) -> None:
    """Ignore a progress report."""
    del done, words


def progress_check(report: Report, total: int, label: str) -> Callable[[], None]:
    """A function that reports one more of `total` parts as done each time it is called."""
    done = 0

    def check() -> None:
        nonlocal done
        report(done / max(total, 1), label)
        done += 1

    return check
