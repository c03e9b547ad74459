"""Results of measurements are stored, and work in progress continues while the page is redrawn until it is stopped."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from unittest.mock import MagicMock

import pytest

from explorer.probing.reporting import Report
from explorer.web import long_work, measurements
from explorer.web.measurements import Store
from tests.explorer.probed import quiet

SECONDS = 20  # after which a thread that has not answered counts as stuck


class Clicked(Exception):
    """What a click raises in the waiting script."""


def click(done: float, words: str) -> None:
    raise Clicked


class Parts:
    """Work of three parts: `go` lets it do the next ones, `counted` lists those done."""

    def __init__(self) -> None:
        self.go, self.began, self.counted = threading.Event(), threading.Event(), list[int]()

    def __call__(self, report: Report) -> int:
        for part in range(3):
            report(part / 3, f"part {part}")
            self.counted.append(part)
            self.began.set()
            assert self.go.wait(SECONDS)
        return len(self.counted)


@pytest.fixture
def parts() -> Iterator[Parts]:
    made = Parts()
    yield made
    made.go.set()


@pytest.fixture
def kept() -> Store:
    return Store()


def begun(kept: Store, parts: Parts) -> None:
    """The work has begun, and the script that waited for it was ended by a click."""
    with pytest.raises(Clicked):
        kept.get(("a",), parts, click)
    assert parts.began.wait(SECONDS)


def test_the_store_makes_each_result_once_and_forgets_the_oldest() -> None:
    kept, made = Store(limit=500), list[str]()

    def work(name: str, report: Report) -> str:
        made.append(name)
        return name

    def make(name: str) -> str:
        return kept.get((name,), partial(work, name), quiet)

    assert [make(name) for name in "aab"] == ["a", "a", "b"]
    make("a")
    make("c")
    assert made == ["a", "b", "c"]
    assert kept.find(("b",)) is None
    assert kept.find(("a",)) == "a"


def test_a_click_does_not_restart_the_work_and_equal_requests_share_it(kept: Store, parts: Parts) -> None:
    for _ in range(3):
        begun(kept, parts)
    with ThreadPoolExecutor() as visitors:
        waits = visitors.submit(kept.get, ("a",), parts, quiet)
        parts.go.set()
        assert kept.get(("a",), parts, quiet) == waits.result(SECONDS) == 3
    assert parts.counted == [0, 1, 2], "each part was done once"


def test_stopped_work_waits_and_continues_where_it_stopped(kept: Store, parts: Parts) -> None:
    begun(kept, parts)
    kept.stop(("a",))
    parts.go.set()
    # Its turn is free meanwhile: other work can finish.
    assert kept.get(("b",), lambda report: 7, quiet) == 7
    assert kept.find(("a",)) is None
    assert parts.counted == [0]
    assert kept.get(("a",), parts, quiet) == 3
    assert parts.counted == [0, 1, 2]


def test_unwatched_work_yields(kept: Store, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "_UNWATCHED", 0.3)
    said = list[str]()
    begun(kept, parts)

    def report(done: float, words: str) -> None:
        said.append(str(words))
        if len(said) > 6:
            parts.go.set()  # the current part finishes, and no session waits for the next one

    assert kept.get(("b",), lambda report: 7, report) == 7
    assert "Waiting: the machine is measuring something else" in said
    assert parts.counted[0] == 0
    assert kept.get(("a",), parts, quiet) == 3
    assert parts.counted == [0, 1, 2]


def test_abandoned_work_ends_in_time(kept: Store, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(kept, parts)
    monkeypatch.setattr(measurements, "PATIENCE", -1.0)
    parts.go.set()
    for thread in threading.enumerate():
        if thread.name == "measure a":
            thread.join(SECONDS)
    assert kept.find(("a",)) is None
    assert parts.counted == [0]


class Pressed(BaseException):
    """Streamlit's signal that a button was pressed, raised in the next call that reaches it."""


def test_stop_is_noticed_while_the_work_says_nothing_new(monkeypatch: pytest.MonkeyPatch, kept: Store) -> None:
    page, release = MagicMock(session_state={}), threading.Event()
    bar = page.progress.return_value
    bar.progress.side_effect = [None, None, Pressed]
    monkeypatch.setattr(long_work, "st", page)
    monkeypatch.setattr(long_work, "store", lambda: kept)

    def make(report: Report) -> None:
        report(0.5, "Still at it")
        assert release.wait(SECONDS)

    with pytest.raises(Pressed):
        long_work.with_progress(("work", "model"), make, "Working")
    release.set()
    assert page.button.call_args.args == ("Stop",)
    said = [call.kwargs["text"] for call in bar.progress.call_args_list]
    assert said.count("Still at it") >= 2, "the bar is looked at again although nothing has changed"
