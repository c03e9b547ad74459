"""Progress callbacks for long computations."""

from __future__ import annotations

from collections.abc import Callable

from explorer.locale.messages import Later, later

Report = Callable[[float, str | Later], None]
"""Called with the share of work done, 0 to 1, and a label of the current work; may raise to stop it."""


def unheard(done: float, label: str | Later) -> None:
    """Ignore a progress report."""
    del done, label


def report_sentences(report: Report, doing: Later, done: int, n: int) -> None:
    """Report how many of `n` sentences are done."""
    label = later("{doing}: {done} of {n} sentence", "{doing}: {done} of {n:,} sentences", doing=doing, done=done, n=n)
    report(done / n, label)


def progress_check(report: Report, total: int, label: str | Later) -> Callable[[], None]:
    """Return a function that reports one more of `total` parts as done each time it is called."""
    done = 0

    def check() -> None:
        nonlocal done
        report(done / max(total, 1), label)
        done += 1

    return check
