"""The Python side of the views: any report of a browser becomes a place that exists, and a fork only one on offer."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.coordinates import Place
from tests.explorer.sent import decodings, mount, report


def _page() -> None:
    import streamlit as st

    from explorer.browser.views import heads_view, stepper
    from explorer.decoding.decoding import Decoding, place_in
    from tests.explorer.planted_heads import random_trace

    words = [f"w{i}" for i in range(st.session_state.get("words", 4))]
    trace = random_trace([*words, "<eos>"], ["<sos>", *words], layers=(2, 3), heads=(4, 2))
    asked = dict(st.session_state.get("asked", {}))
    view = asked.pop("view", "")
    decoding, place = Decoding(trace, st.session_state.get("seq", "first"), "toy"), place_in(trace, **asked)
    if st.session_state["name"] == "stepper":
        st.session_state["result"] = stepper(decoding, place, key="here")
    else:
        st.session_state["result"] = heads_view(decoding, place, view, key="here")


class Page:
    """A page with one view, whose browser reports what `reports` says."""

    def __init__(self, name: str = "heads", **asked: Any) -> None:
        self.app, self.name = AppTest.from_function(_page, default_timeout=60), name
        self.app.session_state["name"] = name
        self.run(asked=asked)

    def run(self, **state: Any) -> Any:
        for name, value in state.items():
            self.app.session_state[name] = value
        self.app.run()
        assert not self.app.exception
        self.sent = mount(self.app, self.name)
        self.result = self.app.session_state["result"]
        return self.result.place

    def reports(self, wanted: tuple[str, ...] = (), **place: Any) -> Any:
        return self.run(here=report(self.sent, wanted=wanted, **place))

    def kinds(self) -> list[str]:
        return [name for _, arrays in decodings(self.app) for name in arrays if "mask" not in name]


@pytest.mark.parametrize("name", ["stepper", "heads"])
def test_the_start_is_moved_into_range_and_a_report_sends_nothing_back(name: str) -> None:
    page = Page(name, kind="sideways", layer=99, head=99, step=99, cell=(77, 88))
    assert page.result.place == Place("cross", 3, 2, 5, 5, 5)
    assert page.kinds() == ["encoder", "decoder", "cross"], "a small decoding is sent whole"
    start = page.sent
    place = page.reports(kind="encoder", layer=1, head=3, step=4, row=1, column=None)
    assert place == Place("encoder", 1, 3, row=1, step=4)
    # The page passes the reported place back in, or what it asked for first: neither is a move.
    assert page.run(asked={"kind": "encoder", "layer": 1, "head": 3, "step": 4}) == place
    assert page.sent == start
    assert page.run(asked={"kind": "cross", "layer": 1, "head": 1, "step": 2}) == Place("cross", 1, 1, row=2, step=2)
    assert page.sent["turn"] == start["turn"] + 1


def test_of_a_large_decoding_a_kind_is_sent_when_it_is_opened() -> None:
    page = Page()
    page.run(words=120, seq="long")
    start = page.sent
    assert page.kinds() == ["cross"]
    first = [proto.proto.bytes for proto in page.app.get("bidi_component")]
    place = page.reports(("encoder",), kind="encoder", row=3, column=4, step=2, options={"view": "head"})
    assert place == Place("encoder", 2, 0, row=3, column=4, step=2)
    assert page.result.view == "head"
    assert page.sent == start, "the views keep their own place"
    assert page.kinds() == ["encoder", "cross"]
    again = {proto.proto.bytes for proto in page.app.get("bidi_component")}
    assert {message for message in first if message} < again, "not again"
    page.run(seq="side by side", asked={"view": "heads.beside"})
    assert page.kinds() == ["encoder", "decoder", "cross"]


def test_a_constant_start_changes_nothing_and_returning_to_the_previous_place_is_a_move() -> None:
    start = {"kind": "cross", "layer": 3, "head": 1, "step": 2}
    page = Page(**{**start, "step": 3})
    page.run()
    sent = page.sent
    page.reports(step=2, row=2)
    assert (page.run().step, page.sent) == (2, sent)
    page.run(asked=start)
    page.reports(step=5, row=5)
    assert page.run().step == 2, "step 5 was replaced by requesting 2 again"


def test_after_a_visit_to_another_page_the_views_open_where_they_were() -> None:
    page = Page()
    place = page.reports(layer=1, head=2, step=3, row=3)
    page.run(asked={"kind": place.kind, "layer": place.layer, "head": place.head, "step": place.step})
    assert page.run(here=None) == place, "Streamlit drops the state of what is not on the page"
    assert [page.sent["start"][name] for name in ("layer", "head", "step")] == [1, 2, 3]


@pytest.mark.parametrize("name", ["stepper", "heads"])
def test_another_decoding_forgets_the_report_of_the_last(name: str) -> None:
    page = Page(name)
    turn = page.sent["turn"]
    page.reports(kind="encoder", layer=1, row=3)
    assert page.run(seq="second", asked={"step": 1}) == Place("cross", 3, 0, row=1, step=1)
    assert (page.sent["seq"], page.sent["start"]["step"], page.sent["turn"]) == ("second", 1, turn + 1)
    assert {header["seq"] for header, _ in decodings(page.app)} == {"second"}


@pytest.mark.parametrize(
    "nonsense",
    [
        {"kind": "none", "layer": "x", "head": True, "step": 1e9, "column": "3", "options": 5},
        {"kind": None},
        {"kind": "encoder", "layer": 10**9, "head": -5, "step": -3, "row": 10**6, "column": 10**6},
        {"kind": "encoder", "options": {"scale": "<b>"}},
        {"kind": "encoder", "options": {"view": "<b>"}},
        {"kind": "encoder", "options": {"mass": -3, "heads": [-1, 10**9]}},
    ],
)
def test_an_invalid_message_gives_a_place_that_exists(nonsense: dict[str, Any]) -> None:
    page = Page()
    place = page.reports(**nonsense)
    assert 1 <= place.layer <= 3
    assert 0 <= place.head <= 4
    assert 1 <= place.row <= 5
    assert place.column is None or 1 <= place.column <= 5
    assert "<" not in page.result.view


@pytest.mark.parametrize(
    ("changes", "fork"),
    [
        ({}, (4, 201)),
        ({"token_id": -7}, None),
        ({"token_id": None}, None),
        ({"seq": "old"}, None),
        ({"place": {"step": 4}}, None),
        ({"place": None}, None),
    ],
)
def test_a_fork_names_the_step_and_a_token_on_offer(changes: dict[str, Any], fork: tuple[int, int] | None) -> None:
    page = Page("stepper")
    place = {**page.sent["start"], "kind": "encoder", "layer": 1, "head": 2, "step": 4, "row": 1}
    page.run(here={"fork": {"seq": "first", "place": place, "token_id": 201} | changes})
    assert (page.result.fork and (page.result.fork.step, page.result.fork.token_id)) == fork
    if fork:
        assert page.result.place == Place("encoder", 1, 2, row=1, step=4), "the fork says where the view is, too"
