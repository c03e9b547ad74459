"""What counts as a request in the address: not what the session wrote itself, even if it comes back late."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.lessons.progress import AT, DONE, LESSON, PRESENT
from explorer.web import address
from tests.pages.page import address as address_of
from tests.paths import ROOT

FRESH, STALE = address.STALE_SECONDS - 1, address.STALE_SECONDS + 1


class Clock:
    """A clock that stands still until it is set."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Session:
    """One session: each script run calls one function of the address, as the browser sends it."""

    def __init__(self) -> None:
        self.app = AppTest.from_function(_script, default_timeout=60)

    def run(self, call: Callable[[], Any]) -> Any:
        self.app.session_state["call"] = call
        self.app.run()
        assert not self.app.exception
        return self.app.session_state["answer"]

    def write(self, group: address.Group, **query: str) -> dict[str, str]:
        self.run(lambda: group.write(query))
        return self.address()

    def address(self) -> dict[str, str]:
        return address_of(self.app)

    def arrives(self, **query: str) -> None:
        self.app.query_params.clear()
        for name, value in query.items():
            self.app.query_params[name] = value


def _script() -> None:
    import streamlit as st

    st.session_state["answer"] = st.session_state["call"]()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(address, "time", clock)
    return clock


@pytest.fixture
def session(clock: Clock) -> Session:
    return Session()


PLACE = address.Group(("layer", "head"))


@pytest.mark.parametrize(
    ("seconds", "moved", "asked"),
    [(FRESH, False, {}), (STALE, False, {"layer": "1"}), (FRESH, True, {"layer": "1"})],
)
def test_a_replaced_address_may_come_back_late_and_going_back_is_a_request_however_soon(
    clock: Clock, session: Session, seconds: float, moved: bool, asked: dict[str, str]
) -> None:
    session.write(PLACE, layer="1")
    session.write(PLACE, layer="2")
    clock.now += seconds
    session.arrives(layer="1")  # a request that left before the browser received the second address, or the user

    def page_run() -> dict[str, str]:
        with address.page_run("a page of its own", moved=moved):
            return PLACE.asked()

    assert session.run(page_run) == asked
    if moved:
        assert session.run(PLACE.asked) == {}, "a fragment that runs afterwards went nowhere"
    assert session.run(PLACE.written) == {"layer": "2"}, "what was written last stays known"
    for layer in range(50):
        session.write(PLACE, layer=str(layer))
        clock.now += 1
    assert len(session.app.session_state["_address_layer_head"]) == address.STALE_SECONDS, "older ones are forgotten"


def test_a_page_writes_only_what_stands_in_its_address(session: Session) -> None:
    def page_run() -> None:
        with address.page_run("positions", moved=False):
            address.SELECTION.write({"model": "m", "text": "a b", "step": "2", "view": "lines"})
            address.LESSON.write({"lesson": "one", "at": "2"})

    session.run(page_run)
    assert session.address() == {"model": "m", "text": "a b", "lesson": "one", "at": "2"}


def test_every_page_declares_its_address_and_nothing_else_reads_the_address_bar() -> None:
    assert address.PAGES.keys() == {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert address.LESSON.names == (LESSON, AT, DONE, PRESENT)
    touching = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if "st.query_params" in path.read_text(encoding="utf-8")
    ]
    assert touching == ["explorer/web/address.py"]


def test_an_address_that_came_back_is_left_alone_until_the_page_goes_elsewhere(clock: Clock, session: Session) -> None:
    """Streamlit requests the address that a person went back to, and only then does the browser report the step."""
    session.write(PLACE, layer="1")
    session.write(PLACE, layer="2")
    session.arrives(layer="1")
    assert session.write(PLACE, layer="2") == {"layer": "1"}, "writing it would undo the step"
    assert session.write(PLACE, layer="3") == {"layer": "3"}
    clock.now += STALE
    session.arrives(layer="1")
    assert session.write(PLACE, layer="3") == {"layer": "3"}


def test_a_change_takes_along_what_another_group_has_just_written(session: Session) -> None:
    """A widget's request may leave the browser before the address of the run before it arrives there."""
    session.write(address.BLOCK, block="1")
    session.write(address.EXPERIMENT, experiment="")
    session.write(address.EXPERIMENT, experiment="mine")
    session.arrives(block="1")
    session.write(address.EXPERIMENT, experiment="mine")
    assert session.write(address.BLOCK, block="2") == {"block": "2", "experiment": "mine"}
