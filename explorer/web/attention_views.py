"""The views of a translation as pages mount them: the stepper and the heads, each at the session's current place."""

from __future__ import annotations

from explorer.browser.views import HeadsResult, StepperResult, cell_of, heads_view, stepper
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import place_in
from explorer.decoding.examples import opening_step
from explorer.web import session
from explorer.web.open_translation import OpenTranslation


def draw_stepper(opened: OpenTranslation, *, key: str) -> StepperResult:
    """Draw the stepper, and move the session to the place that it reports."""
    result = stepper(opened.translation, _place(opened), session.selection().view, key=key)
    at = result.place
    session.move(step=at.step, kind=at.kind, layer=at.layer, head=at.head, view=result.view)
    return result


def draw_heads(opened: OpenTranslation, *, key: str, explains: bool) -> HeadsResult:
    """Draw all heads, one head, lines or the sentence, and move the session to the place that the view reports."""
    selection = session.selection()
    place = _place(opened, selection.cell)
    # A lesson shows the figure with as few controls as it can.
    result = heads_view(opened.translation, place, selection.view, key=key, explains=explains, compact=not explains)
    at = result.place
    session.move(kind=at.kind, layer=at.layer, head=at.head, step=at.step, cell=cell_of(at), view=result.view)
    return result


def _place(opened: OpenTranslation, cell: tuple[int, int] | None = None) -> Place:
    """The session's place in this translation."""
    selection = session.selection()
    step = selection.step or opening_step(opened.summary, opened.translation)
    kind, layer, head = selection.kind, selection.layer, selection.head
    return place_in(opened.translation.trace, kind=kind, layer=layer, head=head, step=step, cell=cell)
