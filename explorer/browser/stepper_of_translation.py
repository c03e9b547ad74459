"""A translation of one of our models as the stepper's view: on a page, and in a file that needs no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.browser.stepper_payload import StepperView
from explorer.decoding.choices import chosen_rows
from explorer.decoding.model_diagram import ModelDiagram

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation


def stepper_of(
    shown: Translation,
    *,
    step: int,
    kind: str,
    layer: int | None,
    head: int,
    trained: bool,
    chosen_by: str,
    diagram: ModelDiagram | None,
) -> StepperView:
    """The view, which starts at this place; for what the arguments mean, see :class:`StepperView`."""
    return StepperView(
        trace=shown.trace,
        seq=shown.seq,
        model=shown.model,
        predicted_ids=shown.path,
        src_unknown=shown.source.unknown,
        step=step,
        kind=kind,
        layer=layer,
        head=head,
        trained=trained,
        chosen=chosen_rows(shown.trace, shown.path),
        chosen_by=chosen_by,
        log_sums=shown.log_sums,
        diagram=diagram,
    )
