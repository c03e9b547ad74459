"""The views of a translation as pages mount them: the stepper and the heads, each at the session's current place."""

from __future__ import annotations

from explorer.browser.heads import HeadsResult, HeadsView, cell_of, heads_view
from explorer.browser.stepper import stepper
from explorer.browser.stepper_of_translation import stepper_of
from explorer.browser.stepper_state import StepperResult
from explorer.decoding.examples import opening_step
from explorer.decoding.model_diagram import diagram_of
from explorer.web import runtime, session
from explorer.web.open_translation import OpenTranslation
from explorer.web.stepping_page import TAKEN


def draw_stepper(opened: OpenTranslation, *, key: str) -> StepperResult:
    """Draw the stepper; the session moves with it."""
    selection, shown = session.selection(), opened.shown
    view = stepper_of(
        shown,
        step=selection.step or opening_step(opened.summary, opened.shown),
        kind=selection.kind,
        layer=selection.layer or None,
        head=selection.head,
        trained=bool(opened.summary["trained"]),
        diagram=diagram_of(runtime.describe(shown.model).model_config),
        chosen_by="chosen" if opened.selection.path is not None else TAKEN[session.decode_config().method],
    )
    result = stepper(view, key=key)
    at = result.place
    session.move(step=at.step, kind=at.kind, layer=at.layer, head=at.head)
    return result


def draw_heads(opened: OpenTranslation, *, key: str, explains: bool) -> HeadsResult:
    """Draw all heads, one head, lines or the sentence; the session moves with the view."""
    selection = session.selection()
    view = HeadsView(
        trace=opened.shown.trace,
        seq=opened.shown.seq,
        model=opened.shown.model,
        kind=selection.kind,
        layer=selection.layer,
        head=selection.head,
        step=selection.step or opening_step(opened.summary, opened.shown),
        cell=selection.cell,
        view=selection.view,
        trained=bool(opened.summary["trained"]),
        explains=explains,
        # A lesson shows the figure with as few controls as it can.
        diagram=diagram_of(runtime.describe(opened.shown.model).model_config) if explains else None,
    )
    result = heads_view(view, key=key)
    at = result.place
    session.move(kind=at.kind, layer=at.layer, head=at.head, step=at.step, cell=cell_of(at), view=result.view)
    return result
