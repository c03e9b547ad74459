"""The Python side of the Attention views: any browser report becomes a place that exists; data are sent once."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.browser import heads
from explorer.browser.heads_payload import decode
from explorer.decoding.coordinates import NoSingleHead, Place


def _page() -> None:
    import streamlit as st

    from explorer.browser.heads import HeadsView, heads_view
    from tests.explorer.planted_heads import random_trace

    long = st.session_state.get("long", 0)
    words = [f"w{i}" for i in range(long or 4)]
    trace = random_trace([*words, "<eos>"], ["<sos>", *words], layers=(2, 3), heads=(4, 2))
    asked = st.session_state.get("asked", {})
    view = HeadsView(trace=trace, seq=st.session_state.get("seq", f"first{long}"), model="toy", **asked)
    st.session_state["result"] = heads_view(view, key="here")


def _run(app: AppTest) -> tuple[Any, dict[str, Any], dict[str, bytes]]:
    """The result, the header of the views, and the blocks by name."""
    app.run()
    assert not app.exception
    import json

    protos = [element.proto for element in app.get("bidi_component")]
    own, *carried = [json.loads(proto.json) for proto in protos if proto.json]
    assert set(own) == {"name", "header"}
    if "own" not in app.session_state:
        app.session_state["own"] = own
    assert own == app.session_state["own"], "the views' own data never change, so they are sent once"
    (header,) = carried or [own["header"]]
    blocks = {decode(proto.bytes)[0]["name"]: proto.bytes for proto in protos if proto.bytes}
    return app.session_state["result"], header, blocks


def _message(**changes: Any) -> dict[str, Any]:
    said = {"seq": "first0", "turn": 1, "kind": "encoder", "layer": 1, "head": 2, "step": 1, "source": 2, "col": 3}
    return said | {"view": "head", "picks": {}, "heads": [2], "wanted": ["encoder"]} | changes


def test_the_start_is_moved_into_range_and_one_kind_is_sent() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["asked"] = {"kind": "sideways", "layer": 99, "head": 99, "step": 99, "cell": (77, 88)}
    result, header, blocks = _run(app)
    assert result.place == Place("cross", 3, 2, 5, 5, 5)
    assert header["start"]["view"] == "heads"
    assert list(blocks) == ["here/cross"]
    assert header["kinds"] == {
        "encoder": {"layers": 2, "heads": 4},
        "decoder": {"layers": 3, "heads": 2},
        "cross": {"layers": 3, "heads": 2},
    }


def test_another_kind_is_sent_when_it_is_opened_and_nothing_is_sent_twice() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _, before, first = _run(app)
    app.session_state["here"] = {"at": _message()}
    result, after, second = _run(app)
    assert result.place == Place("encoder", 1, 2, row=3, col=4, step=2)
    assert (result.view, result.place.index) == ("head", (0, 1))
    assert after == before, "the views keep their own position"
    assert list(second) == ["here/encoder", "here/cross"]
    assert second["here/cross"] == first["here/cross"]


def test_side_by_side_sends_all_kinds() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["asked"] = {"view": "heads.beside"}
    assert list(_run(app)[2]) == ["here/encoder", "here/decoder", "here/cross"]


def test_handing_back_the_position_changes_nothing_but_a_new_start_moves_the_views() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _, before, _ = _run(app)
    app.session_state["here"] = {"at": _message(kind="cross", layer=2, head=1, step=3, col=None)}
    result, header, _ = _run(app)
    assert header["turn"] == before["turn"]
    place = result.place
    app.session_state["asked"] = {
        "kind": place.kind,
        "layer": place.layer,
        "head": place.head,
        "step": place.step,
        "cell": heads.cell_of(place),
        "view": result.view,
    }
    assert _run(app)[1] == before
    app.session_state["asked"] = {"kind": "cross", "layer": 1, "head": 1, "step": 2}
    result, header, _ = _run(app)
    assert header["turn"] == before["turn"] + 1
    assert result.place == Place("cross", 1, 1, row=2, step=2)


def test_a_constant_start_changes_nothing() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["asked"] = {"kind": "cross", "layer": 3, "head": 1, "step": 5}
    _, before, _ = _run(app)
    _run(app)
    app.session_state["here"] = {"at": _message()}
    for _ in range(2):
        result, header, _ = _run(app)
        assert (header, result.place.kind) == (before, "encoder")


def test_returning_to_the_previous_place_is_a_move() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    start = {"kind": "cross", "layer": 3, "head": 1, "step": 2}
    app.session_state["asked"] = {**start, "step": 3}
    _run(app)
    app.session_state["here"] = {"at": _message(kind="cross", layer=3, head=1, step=1, col=None, view="heads")}
    _run(app)
    app.session_state["asked"] = start
    _run(app)
    app.session_state["here"] = {"at": _message(kind="cross", layer=3, head=1, step=4, col=None, view="heads")}
    assert _run(app)[0].place.step == 5
    assert _run(app)[0].place.step == 2, "step 5 was replaced by requesting 2 again"


def test_the_first_header_comes_with_the_views_and_all_later_ones_are_carried() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _, first, _ = _run(app)
    assert app.session_state["own"]["header"] == first
    app.session_state["here"] = {"at": _message()}
    app.session_state["seq"] = "second"
    _, second, _ = _run(app)
    assert (first["seq"], second["seq"]) == ("first0", "second")
    app.session_state["seq"] = "first0"
    assert _run(app)[1]["turn"] == 3, "a header that equals the first one is another turn"
    app.session_state["here"] = None  # another page was open meanwhile: the views are created again
    del app.session_state["own"]
    app.session_state["seq"] = "third"
    _run(app)
    assert app.session_state["own"]["header"]["seq"] == "third"


def test_another_decoding_forgets_the_report_of_the_last() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _run(app)
    app.session_state["here"] = {"at": _message()}
    _run(app)
    app.session_state["seq"] = "second"
    result, header, blocks = _run(app)
    assert result.place.kind == "cross"
    assert header["seq"] == "second"
    assert {decode(block)[0]["seq"] for block in blocks.values()} == {"second"}


def test_numbers_of_large_models_follow_for_the_heads_in_view() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["long"] = 120
    app.session_state["asked"] = {"view": "lines.h-1-2", "layer": 2, "head": 1}
    _, _, blocks = _run(app)
    assert not decode(blocks["here/cross"])[0]["exact"]
    assert decode(blocks["here/cross/numbers"])[0]["given"] == [[2, 1], [2, 2]]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"kind": "none", "layer": "x", "head": True, "step": 1e9, "col": "3", "view": 5, "picks": 3, "heads": 1},
        {
            "kind": None,
            "picks": {"cross": {"layer": -4, "head": None}},
            "heads": ["a", -1, 99],
            "wanted": ["sideways", 3],
        },
        {"layer": 10**9, "head": -5, "step": -3, "source": 10**6, "col": 10**6},
    ],
)
def test_an_invalid_message_gives_a_place_that_exists(nonsense: dict[str, Any]) -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _run(app)
    app.session_state["here"] = {"at": _message(**nonsense)}
    place = _run(app)[0].place
    assert 1 <= place.layer <= 3
    assert 0 <= place.head <= 4
    assert 1 <= place.row <= 5
    assert place.col is None or 1 <= place.col <= 5


def test_words_are_requested_by_the_view() -> None:
    assert heads.form_of("heads", "cross") == "tokens"
    assert heads.form_of("lines.words", "cross") == "words"
    assert heads.form_of("lines.words.next", "cross") == "words-next"
    assert heads.form_of("lines.words.next", "encoder") == "words"


def test_the_mean_over_heads_is_not_a_single_head() -> None:
    with pytest.raises(NoSingleHead, match="Choose one head"):
        _ = Place("cross", 1, 0, 1).index
