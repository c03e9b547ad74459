"""Results of measurements are stored, and work in progress continues while the page is redrawn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from explorer.web import measurements as probe_store
from explorer.web.measurements import Report, Store

SECONDS = 20  # after which a thread that has not answered counts as stuck


class Clicked(Exception):
    """What a click raises in the waiting script."""


def quiet(done: float, words: str) -> None:
    assert 0 <= done <= 1
    assert words is not None


def click(done: float, words: str) -> None:
    raise Clicked


@pytest.fixture
def parts() -> Iterator[Callable[[Report], int]]:
    """Work of three parts; `parts.go` lets it do the next ones, `parts.counted` lists those done."""
    made = Parts()
    yield made
    made.go.set()


class Parts:
    def __init__(self) -> None:
        self.go, self.began, self.counted = threading.Event(), threading.Event(), list[int]()

    def __call__(self, report: Report) -> int:
        for part in range(3):
            report(part / 3, f"part {part}")
            self.counted.append(part)
            self.began.set()
            assert self.go.wait(SECONDS)
        return len(self.counted)


def test_the_store_makes_each_result_once_and_forgets_the_oldest() -> None:
    kept, made = Store(limit=500), []

    def make(name: str) -> str:
        return kept.get((name,), lambda report: made.append(name) or name, quiet)  # type: ignore[func-returns-value,return-value]

    assert [make(name) for name in "aab"] == ["a", "a", "b"]
    make("a")
    make("c")
    assert made == ["a", "b", "c"]
    assert kept.find(("b",)) is None
    assert kept.find(("a",)) == "a"


def test_failed_work_says_why_is_not_stored_and_lets_others_run() -> None:
    kept = Store()

    def fail(report: Report) -> int:
        raise ValueError("no sentences")

    with pytest.raises(ValueError, match="no sentences"):
        kept.get(("a",), fail, quiet)
    assert kept.find(("a",)) is None
    assert kept.get(("a",), lambda report: 1, quiet) == 1


def test_a_click_does_not_restart_the_work(parts: Parts) -> None:
    kept = Store()
    for _ in range(3):
        with pytest.raises(Clicked):
            kept.get(("a",), parts, click)
    parts.go.set()
    assert kept.get(("a",), parts, quiet) == 3
    assert parts.counted == [0, 1, 2], "each part was done once"


def test_equal_requests_share_the_work(parts: Parts) -> None:
    kept, results = Store(), list[int]()
    first = threading.Thread(target=lambda: results.append(kept.get(("a",), parts, quiet)))
    first.start()
    assert parts.began.wait(SECONDS)
    parts.go.set()
    results.append(kept.get(("a",), parts, quiet))
    first.join(SECONDS)
    assert results == [3, 3]
    assert parts.counted == [0, 1, 2]


def test_stopped_work_waits_and_continues_where_it_stopped(parts: Parts) -> None:
    kept = Store()
    with pytest.raises(Clicked):
        kept.get(("a",), parts, click)
    assert parts.began.wait(SECONDS)
    kept.stop(("a",))
    parts.go.set()
    # Its turn is free meanwhile: other work can finish.
    assert kept.get(("b",), lambda report: 7, quiet) == 7
    assert kept.find(("a",)) is None
    assert parts.counted == [0]
    assert kept.get(("a",), parts, quiet) == 3
    assert parts.counted == [0, 1, 2]


def test_unwatched_work_yields(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_store, "_UNWATCHED", 0.3)
    kept, said = Store(), list[str]()
    with pytest.raises(Clicked):
        kept.get(("a",), parts, click)
    assert parts.began.wait(SECONDS)

    def report(done: float, words: str) -> None:
        said.append(words)
        if len(said) > 6:
            parts.go.set()  # the current part finishes, and no session waits for the next one

    assert kept.get(("b",), lambda report: 7, report) == 7
    assert "Waiting: the machine is measuring something else" in said
    assert parts.counted[0] == 0
    assert kept.get(("a",), parts, quiet) == 3
    assert parts.counted == [0, 1, 2]


def test_abandoned_work_ends_in_time(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store()
    with pytest.raises(Clicked):
        kept.get(("a",), parts, click)
    assert parts.began.wait(SECONDS)
    monkeypatch.setattr(probe_store, "PATIENCE", -1.0)
    parts.go.set()
    for thread in threading.enumerate():
        if thread.name == "measure a":
            thread.join(SECONDS)
    assert kept.find(("a",)) is None
    assert parts.counted == [0]
