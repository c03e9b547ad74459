"""The Python side of the stepper: any browser report becomes a position that exists; the payload does not change."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from explorer.browser.stepper_payload import decode


def _page() -> None:
    import streamlit as st

    from explorer.browser.stepper import stepper
    from tests.explorer.planted import planted_view

    view = planted_view(seq=st.session_state.get("seq", "first"), step=st.session_state.get("step", 2))
    st.session_state["result"] = stepper(view, key="here")


def _run(app: AppTest) -> tuple[Any, bytes]:
    app.run()
    assert not app.exception
    (payload,) = [element.proto.bytes for element in app.get("bidi_component") if element.proto.bytes]
    return app.session_state["result"], payload


def _message(**changes: Any) -> dict[str, Any]:
    return {"seq": "first", "step": 4, "kind": "decoder", "layer": 1, "head": 2} | changes


def test_before_any_report_the_position_is_the_start() -> None:
    result, payload = _run(AppTest.from_function(_page, default_timeout=60))
    assert (result.place.step, result.place.kind, result.place.layer, result.fork) == (2, "cross", 2, None)
    assert decode(payload)[0]["step"] == 2


def test_a_report_is_the_position_and_does_not_change_the_payload() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _, before = _run(app)
    app.session_state["here"] = {"at": _message()}
    app.session_state["step"] = 4  # the page passes the reported step back in
    result, after = _run(app)
    assert (result.place.step, result.place.kind, result.place.layer, result.place.head) == (
        4,
        "decoder",
        1,
        2,
    )
    assert before == after


def test_a_new_sentence_discards_the_old_report() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _run(app)
    app.session_state["here"] = {"at": _message()}
    _run(app)
    app.session_state["seq"] = "second"
    app.session_state["step"] = 1
    result, payload = _run(app)
    assert result.place.step == 1
    assert (decode(payload)[0]["seq"], decode(payload)[0]["step"]) == ("second", 1)


def test_returning_to_the_page_restores_the_position() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    _run(app)  # nothing reported: as after a switch of pages, which drops the component's state
    app.session_state["step"] = 5
    result, payload = _run(app)
    assert result.place.step == decode(payload)[0]["step"] == 5


def test_a_fork_names_the_step_and_the_token() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["here"] = {"fork": _message(token_id=201)}
    result, _ = _run(app)
    assert (result.fork.step, result.fork.token_id) == (4, 201)
    assert result.place.layer == 1


def test_an_invalid_message_is_neither_a_position_nor_a_fork() -> None:
    app = AppTest.from_function(_page, default_timeout=60)
    app.session_state["here"] = {"at": _message(step="x", layer=1e9, head=True, kind=None)}
    result, _ = _run(app)
    assert (result.place.step, result.place.kind, result.place.layer) == (2, "cross", 2)
    for fork in (_message(token_id=-7), _message(token_id=None), _message(seq="old", token_id=201)):
        app.session_state["here"] = {"fork": fork}
        assert _run(app)[0].fork is None
