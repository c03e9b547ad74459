"""The Python side of the Attention views: any browser report becomes a place that exists; kinds come when needed."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.coordinates import NoSingleHead, Place
from tests.explorer.sent import decodings, mount, report


def _page() -> None:
    import streamlit as st

    from explorer.browser.views import heads_view
    from explorer.decoding.decoding import Decoding, place_in
    from tests.explorer.planted_heads import random_trace

    long = st.session_state.get("long", 0)
    words = [f"w{i}" for i in range(long or 4)]
    trace = random_trace([*words, "<eos>"], ["<sos>", *words], layers=(2, 3), heads=(4, 2))
    asked = dict(st.session_state.get("asked", {}))
    view = asked.pop("view", "")
    decoding = Decoding(trace, st.session_state.get("seq", f"first{long}"), "toy")
    st.session_state["result"] = heads_view(decoding, place_in(trace, **asked), view, key="here")


def _app(**asked: Any) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["asked"] = asked
    return app


def _run(app: AppTest) -> tuple[Any, dict[str, Any]]:
    app.run()
    assert not app.exception
    return app.session_state["result"], mount(app, "heads")


def _kinds(app: AppTest) -> list[str]:
    """The kinds of attention that were sent."""
    return [name for _, arrays in decodings(app) for name in arrays if "mask" not in name]


def test_the_start_is_moved_into_range() -> None:
    app = _app(kind="sideways", layer=99, head=99, step=99, cell=(77, 88))
    result, sent = _run(app)
    assert result.place == Place("cross", 3, 2, 5, 5, 5)
    assert sent["start"]["options"]["view"] == "heads"
    assert _kinds(app) == ["encoder", "decoder", "cross"], "a small decoding is sent whole"


def test_of_a_large_decoding_a_kind_is_sent_when_it_is_opened() -> None:
    app = _app()
    app.session_state["long"] = 120
    _, before = _run(app)
    assert _kinds(app) == ["cross"]
    first = [proto.proto.bytes for proto in app.get("bidi_component")]
    app.session_state["here"] = report(
        before, kind="encoder", row=3, column=4, step=2, options={"view": "head"}, wanted=("encoder",)
    )
    result, after = _run(app)
    assert result.place == Place("encoder", 2, 0, row=3, column=4, step=2)
    assert result.view == "head"
    assert after == before, "the views keep their own place"
    assert _kinds(app) == ["encoder", "cross"]
    assert {message for message in first if message} < {p.proto.bytes for p in app.get("bidi_component")}, "not again"


def test_side_by_side_sends_all_kinds() -> None:
    app = _app(view="heads.beside")
    app.session_state["long"] = 120
    _run(app)
    assert _kinds(app) == ["encoder", "decoder", "cross"]


def test_handing_back_the_place_changes_nothing_but_a_new_start_moves_the_views() -> None:
    app = _app()
    _, before = _run(app)
    app.session_state["here"] = report(before, kind="cross", layer=2, head=1, step=4, row=4)
    result, sent = _run(app)
    assert sent["turn"] == before["turn"]
    place = result.place
    asked = {"kind": place.kind, "layer": place.layer, "head": place.head, "step": place.step, "view": result.view}
    app.session_state["asked"] = asked
    assert _run(app)[1] == before
    app.session_state["asked"] = {"kind": "cross", "layer": 1, "head": 1, "step": 2}
    result, sent = _run(app)
    assert sent["turn"] == before["turn"] + 1
    assert result.place == Place("cross", 1, 1, row=2, step=2)


def test_a_constant_start_changes_nothing() -> None:
    app = _app(kind="cross", layer=3, head=1, step=5)
    _, before = _run(app)
    _run(app)
    app.session_state["here"] = report(before, kind="encoder", layer=1, head=2, step=2, row=3)
    for _ in range(2):
        result, sent = _run(app)
        assert (sent, result.place.kind) == (before, "encoder")


def test_returning_to_the_previous_place_is_a_move() -> None:
    start = {"kind": "cross", "layer": 3, "head": 1, "step": 2}
    app = _app(**{**start, "step": 3})
    _, sent = _run(app)
    app.session_state["here"] = report(sent, step=2, row=2)
    _run(app)
    app.session_state["asked"] = start
    _, sent = _run(app)
    app.session_state["here"] = report(sent, step=5, row=5)
    assert _run(app)[0].place.step == 5
    assert _run(app)[0].place.step == 2, "step 5 was replaced by requesting 2 again"


def test_after_a_visit_to_another_page_the_views_open_where_they_were() -> None:
    app = _app()
    _, sent = _run(app)
    app.session_state["here"] = report(sent, layer=1, head=2, step=3, row=3)
    place = _run(app)[0].place
    app.session_state["asked"] = {"kind": place.kind, "layer": place.layer, "head": place.head, "step": place.step}
    _run(app)
    app.session_state["here"] = None  # Streamlit drops the state of what is not on the page
    result, sent = _run(app)
    assert result.place == place
    assert (sent["start"]["layer"], sent["start"]["head"], sent["start"]["step"]) == (1, 2, 3)


def test_another_decoding_forgets_the_report_of_the_last() -> None:
    app = _app()
    _, sent = _run(app)
    app.session_state["here"] = report(sent, kind="encoder", layer=1, row=3)
    _run(app)
    app.session_state["seq"] = "second"
    result, sent = _run(app)
    assert result.place.kind == "cross"
    assert sent["seq"] == "second"
    assert {header["seq"] for header, _ in decodings(app)} == {"second"}


@pytest.mark.parametrize(
    "nonsense",
    [
        {"kind": "none", "layer": "x", "head": True, "step": 1e9, "column": "3", "options": 5},
        {"kind": None},
        {"layer": 10**9, "head": -5, "step": -3, "row": 10**6, "column": 10**6},
        {"options": {"scale": "<b>"}},
        {"options": {"view": "<b>"}},
        {"options": {"mass": -3, "heads": [-1, 10**9]}},
    ],
)
def test_an_invalid_message_gives_a_place_that_exists(nonsense: dict[str, Any]) -> None:
    app = _app()
    _, sent = _run(app)
    app.session_state["here"] = (
        report(sent, kind="encoder", **nonsense) if "kind" not in nonsense else report(sent, **nonsense)
    )
    result, _ = _run(app)
    place = result.place
    assert 1 <= place.layer <= 3
    assert 0 <= place.head <= 4
    assert 1 <= place.row <= 5
    assert place.column is None or 1 <= place.column <= 5
    assert "<" not in result.view


def test_the_mean_over_heads_is_not_a_single_head() -> None:
    with pytest.raises(NoSingleHead, match="Choose one head"):
        _ = Place("cross", 1, 0, 1).index
