"""What counts as a request in the address: not what the session wrote itself, even if it comes back late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from explorer.lessons.progress import PARAMETERS
from explorer.web import address
from tests.paths import ROOT

FRESH, STALE = address.STALE_SECONDS - 1, address.STALE_SECONDS + 1


class Clock:
    """A clock that stands still until it is set."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(address, "time", clock)
    return clock


class Session:
    """One session: each script run calls one function of the address, as the browser sends it."""

    def __init__(self) -> None:
        self.app = AppTest.from_function(_script, default_timeout=60)

    def run(self, call: Callable[[], Any]) -> Any:
        self.app.session_state["call"] = call
        self.app.run()
        assert not self.app.exception
        return self.app.session_state["answer"]

    def address(self) -> dict[str, str]:
        query = self.app.query_params
        return {name: value if isinstance(value, str) else value[-1] for name, value in query.items()}

    def arrives(self, **query: str) -> None:
        """The browser's next request has this address."""
        self.app.query_params.clear()
        for name, value in query.items():
            self.app.query_params[name] = value


def _script() -> None:
    import streamlit as st

    st.session_state["answer"] = st.session_state["call"]()


PLACE = address.Group(("layer", "head"))
RUN = address.RUN


def test_a_link_is_a_request(clock: Clock) -> None:
    session = Session()
    assert session.run(PLACE.asked) == {}
    session.arrives(layer="1", head="2", model="m")
    assert session.run(PLACE.asked) == {"layer": "1", "head": "2"}, "only the parameters of the group"


def test_what_the_session_wrote_is_no_request(clock: Clock) -> None:
    session = Session()
    session.run(lambda: PLACE.write({"layer": "1", "head": "2"}))
    assert session.address() == {"layer": "1", "head": "2"}
    assert session.run(PLACE.asked) == {}
    clock.now += 1000 * STALE
    assert session.run(PLACE.asked) == {}, "however long it has been there"
    session.arrives(layer="1", head="3")
    assert session.run(PLACE.asked) == {"layer": "1", "head": "3"}


@pytest.mark.parametrize(("seconds", "asked"), [(FRESH, {}), (STALE, {"layer": "1"})])
def test_a_replaced_address_may_come_back_late(clock: Clock, seconds: float, asked: dict[str, str]) -> None:
    session = Session()
    session.run(lambda: PLACE.write({"layer": "1"}))
    session.run(lambda: PLACE.write({"layer": "2"}))
    clock.now += seconds
    session.arrives(layer="1")  # a request that left before the browser received the second address, or the user
    assert session.run(PLACE.asked) == asked
    assert session.run(PLACE.written) == {"layer": "2"}, "what was written last stays known"


@pytest.mark.parametrize("moved", [False, True])
def test_going_back_is_a_request_however_soon(clock: Clock, moved: bool) -> None:
    session = Session()
    session.run(lambda: PLACE.write({"layer": "1"}))
    session.run(lambda: PLACE.write({"layer": "2"}))
    session.arrives(layer="1")

    def page_run() -> dict[str, str]:
        with address.page_run("a page of its own", moved=moved):
            return PLACE.asked()

    assert session.run(page_run) == ({"layer": "1"} if moved else {})
    assert session.run(PLACE.asked) == {}, "a fragment that runs afterwards went nowhere"


def test_each_write_is_one_change_of_the_address(clock: Clock) -> None:
    """Each change is an entry in the browser's history."""
    session, changes = Session(), []
    session.arrives(layer="1", head="2", model="m")

    def write() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(QueryParams, "_send_query_param_msg", lambda params: changes.append(str(params)))
            PLACE.write({"layer": "3"})
            PLACE.write({"layer": "3"})

    session.run(write)
    assert len(changes) == 1


def test_an_address_older_than_the_limit_is_forgotten_when_the_next_is_written(clock: Clock) -> None:
    session = Session()
    for layer in range(50):
        session.run(lambda layer=layer: PLACE.write({"layer": str(layer)}))  # type: ignore[misc]
        clock.now += 1
    history = session.app.session_state["_address_layer_head"]
    assert len(history) == address.STALE_SECONDS


def test_writing_leaves_other_parameters_alone_and_removes_those_of_the_group(clock: Clock) -> None:
    session = Session()
    session.arrives(layer="1", head="2", model="m")
    session.run(lambda: PLACE.write({"layer": "3"}))
    assert session.address() == {"layer": "3", "model": "m"}
    session.run(lambda: PLACE.write({}))
    assert session.address() == {"model": "m"}
    assert session.run(PLACE.asked) == {}, "an address without the group requests nothing"


def test_groups_do_not_answer_for_each_other(clock: Clock) -> None:
    session = Session()
    session.run(lambda: RUN.write({"run": "a"}))
    session.arrives(run="a", layer="1")
    assert session.run(RUN.asked) == {}
    assert session.run(PLACE.asked) == {"layer": "1"}


def test_an_empty_value_is_not_written_but_may_be_requested(clock: Clock) -> None:
    session = Session()
    session.arrives(run="")
    assert session.run(RUN.asked) == {"run": ""}
    session.run(lambda: RUN.write({"run": "b"}))
    assert (session.run(RUN.asked), session.run(RUN.written), session.address()) == ({}, {"run": "b"}, {"run": "b"})
    session.run(lambda: RUN.write({"run": ""}))
    assert (session.run(RUN.present), session.run(RUN.written), session.address()) == ({}, {}, {})


def test_a_page_writes_only_what_stands_in_its_address(clock: Clock) -> None:
    session = Session()

    def page_run() -> None:
        with address.page_run("positions", moved=False):
            address.SELECTION.write({"model": "m", "text": "a b", "step": "2", "view": "lines"})
            address.LESSON.write({"lesson": "one", "at": "2"})

    session.run(page_run)
    assert session.address() == {"model": "m", "text": "a b", "lesson": "one", "at": "2"}


def test_every_page_declares_its_address_and_nothing_else_reads_the_address_bar() -> None:
    assert address.PAGES.keys() == {path.stem for path in (ROOT / "pages").glob("*.py")}
    assert address.LESSON.names == PARAMETERS
    touching = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if "st.query_params" in path.read_text(encoding="utf-8")
    ]
    assert touching == ["explorer/web/address.py"]


def test_an_address_that_came_back_is_left_alone_until_the_page_goes_elsewhere(clock: Clock) -> None:
    """Streamlit requests the address that a person went back to, and only then does the browser report the step."""
    session = Session()
    session.run(lambda: PLACE.write({"layer": "1"}))
    session.run(lambda: PLACE.write({"layer": "2"}))
    session.arrives(layer="1")
    session.run(lambda: PLACE.write({"layer": "2"}))
    assert session.address() == {"layer": "1"}, "writing it would undo the step"
    session.run(lambda: PLACE.write({"layer": "3"}))
    assert session.address() == {"layer": "3"}
    clock.now += STALE
    session.arrives(layer="1")
    session.run(lambda: PLACE.write({"layer": "3"}))
    assert session.address() == {"layer": "3"}


def test_a_change_takes_along_what_another_group_has_just_written(clock: Clock) -> None:
    """A widget's request may leave the browser before the address of the run before it arrives there."""
    session = Session()
    session.run(lambda: address.BLOCK.write({"block": "1"}))
    session.run(lambda: address.OPERATION.write({"op": ""}))
    session.run(lambda: address.OPERATION.write({"op": "scores"}))
    session.arrives(block="1")
    session.run(lambda: address.OPERATION.write({"op": "scores"}))
    session.run(lambda: address.BLOCK.write({"block": "2"}))
    assert session.address() == {"block": "2", "op": "scores"}
