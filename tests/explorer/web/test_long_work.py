"""Long measurements: Stop is noticed even while nothing moves."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any

import pytest

from explorer.web import long_work
from explorer.web.measurements import Store


class Pressed(BaseException):
    """Streamlit's signal that a button was pressed, raised in the next call that reaches it."""


class Page:
    """As much of Streamlit as a progress bar needs. The button is pressed at the third look at the bar."""

    def __init__(self) -> None:
        self.session_state: dict[str, Any] = {}
        self.drawn: list[str] = []

    def empty(self) -> Page:
        return self

    @contextmanager
    def container(self, **layout: Any) -> Any:
        yield

    def button(self, label: str, **rest: Any) -> None:
        self.drawn.append(label)

    def progress(self, done: float, text: str) -> Page | None:
        self.drawn.append(text)
        if len([one for one in self.drawn if one != "Stop"]) > 3:
            raise Pressed
        return self


def test_stop_is_noticed_while_the_work_says_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    page, store, release = Page(), Store(), threading.Event()
    monkeypatch.setattr(long_work, "st", page)
    monkeypatch.setattr(long_work, "store", lambda: store)

    def make(report: Any) -> str:
        report(0.5, "Still at it")
        assert release.wait(20)
        return "done"

    try:
        with pytest.raises(Pressed):
            long_work.with_progress(("work", "model"), make, "Working")
    finally:
        release.set()
    assert "Stop" in page.drawn
    assert page.drawn.count("Still at it") >= 2, "the bar is looked at again although nothing has changed"
