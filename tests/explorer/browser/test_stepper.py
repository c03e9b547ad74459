"""The Python side of the stepper: any browser report becomes a place that exists, and a fork only one on offer."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.coordinates import Place
from tests.explorer.sent import mount, report


def _page() -> None:
    import streamlit as st

    from explorer.browser.views import stepper
    from tests.explorer.planted import planted_view

    decoding, place = planted_view(seq=st.session_state.get("seq", "first"), step=st.session_state.get("step", 2))
    st.session_state["result"] = stepper(decoding, place, key="here")


def _run(app: AppTest) -> tuple[Any, dict[str, Any]]:
    app.run()
    assert not app.exception
    return app.session_state["result"], mount(app, "stepper")


def _app() -> AppTest:
    return AppTest.from_function(_page, default_timeout=60)


def test_before_any_report_the_place_is_the_start() -> None:
    result, sent = _run(_app())
    assert (result.place, result.fork) == (Place("cross", 2, 0, row=2, step=2), None)
    assert sent["start"]["step"] == 2


def test_a_report_is_the_place_and_sends_nothing_back() -> None:
    app = _app()
    _, before = _run(app)
    app.session_state["here"] = report(before, step=4, row=4)
    assert _run(app)[0].place == Place("cross", 2, 0, row=4, step=4)
    app.session_state["step"] = 4  # the page passes the reported step back in
    result, after = _run(app)
    assert result.place == Place("cross", 2, 0, row=4, step=4)
    assert before == after
    app.session_state["here"] = report(before, kind="encoder", layer=1, head=2, step=4, row=1)
    assert _run(app)[0].place == Place("encoder", 1, 2, row=1, step=4)


def test_a_new_sentence_discards_the_old_report() -> None:
    app = _app()
    _, before = _run(app)
    app.session_state["here"] = report(before, step=4)
    _run(app)
    app.session_state["seq"] = "second"
    app.session_state["step"] = 1
    result, sent = _run(app)
    assert result.place.step == 1
    assert (sent["seq"], sent["start"]["step"], sent["turn"]) == ("second", 1, before["turn"] + 1)


def test_another_place_asked_for_is_a_move() -> None:
    app = _app()
    _, before = _run(app)
    app.session_state["step"] = 5
    result, sent = _run(app)
    assert result.place.step == sent["start"]["step"] == 5
    assert sent["turn"] == before["turn"] + 1


def test_a_fork_names_the_step_and_the_token() -> None:
    app = _app()
    _, sent = _run(app)
    place = {**sent["start"], "kind": "encoder", "layer": 1, "head": 2, "step": 4, "row": 1}
    app.session_state["here"] = {"fork": {"seq": "first", "place": place, "token_id": 201}}
    result, _ = _run(app)
    assert (result.fork.step, result.fork.token_id) == (4, 201)
    assert result.place == Place("encoder", 1, 2, row=1, step=4), "the fork says where the view is, too"


@pytest.mark.parametrize(
    "fork",
    [
        {"token_id": -7},
        {"token_id": None},
        {"seq": "old"},
        {"place": {"step": 4}},
        {"place": None},
    ],
)
def test_a_fork_that_is_not_on_offer_is_none(fork: Any) -> None:
    app = _app()
    _, sent = _run(app)
    app.session_state["here"] = {"fork": {"seq": "first", "place": sent["start"], "token_id": 201} | fork}
    assert _run(app)[0].fork is None


def test_a_trace_without_cross_attention_is_refused() -> None:
    import dataclasses

    import numpy as np

    from explorer.browser.views import stepper
    from tests.explorer.planted import planted_trace, planted_view

    none = dataclasses.replace(planted_trace(), cross=np.zeros((0, 0, 5, 5), dtype=np.float32))
    with pytest.raises(ValueError, match="no cross-attention"):
        stepper(*planted_view(none, kind="encoder"), key="none")
