"""The views of a translation as pages mount them: the stepper and the heads, each at the session's current place."""

from __future__ import annotations

from explorer.browser.heads import HeadsResult, cell_of, heads_view
from explorer.browser.stepper import StepperResult, stepper
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding, place_in
from explorer.decoding.examples import opening_step
from explorer.decoding.model_diagram import diagram_of
from explorer.web import runtime, session
from explorer.web.open_translation import OpenTranslation
from explorer.web.stepping_page import TAKEN


def draw_stepper(opened: OpenTranslation, *, key: str) -> StepperResult:
    """Draw the stepper; the session moves with it."""
    result = stepper(decoding_of(opened), _place(opened), key=key)
    at = result.place
    session.move(step=at.step, kind=at.kind, layer=at.layer, head=at.head)
    return result


def draw_heads(opened: OpenTranslation, *, key: str, explains: bool) -> HeadsResult:
    """Draw all heads, one head, lines or the sentence; the session moves with the view."""
    selection = session.selection()
    place = _place(opened, selection.cell)
    # A lesson shows the figure with as few controls as it can.
    result = heads_view(decoding_of(opened), place, selection.view, key=key, explains=explains, compact=not explains)
    at = result.place
    session.move(kind=at.kind, layer=at.layer, head=at.head, step=at.step, cell=cell_of(at), view=result.view)
    return result


def decoding_of(opened: OpenTranslation) -> Decoding:
    """The translation on screen as every view receives it."""
    return Decoding.of(
        opened.shown,
        trained=bool(opened.summary["trained"]),
        chosen_by="chosen" if opened.selection.path is not None else TAKEN[session.decode_config().method],
        diagram=diagram_of(runtime.describe(opened.shown.model).model_config),
    )


def _place(opened: OpenTranslation, cell: tuple[int, int] | None = None) -> Place:
    """The session's place in this translation."""
    selection = session.selection()
    step = selection.step or opening_step(opened.summary, opened.shown)
    kind, layer, head = selection.kind, selection.layer, selection.head
    return place_in(opened.shown.trace, kind=kind, layer=layer, head=head, step=step, cell=cell)
