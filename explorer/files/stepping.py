"""A whole translation as a page that stands alone: it steps, and offers the continuations recorded with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.decoding.decoding import Decoding
from explorer.decoding.model_diagram import ModelDiagram
from explorer.files.standalone_page import Recording, View, page

if TYPE_CHECKING:
    from explorer.decoding.coordinates import Place
    from explorer.decoding.translator import Translation


@dataclass(frozen=True, eq=False)
class Told:
    """A decoding to record: what is said of it, the step (from 1) at which to open it, and who chose its tokens."""

    translation: Translation
    detail: str
    step: int = 1
    chosen_by: str = "chosen"


def translation_page(
    decodings: Sequence[Told],
    *,
    shown: Translation,
    place: Place,
    view: View = "steps",
    options: str = "",
    trained: bool = True,
    diagram: ModelDiagram | None = None,
    facts: Sequence[str] = (),
    index: str = "",
) -> bytes:
    """The file. All `decodings` are of one sentence, the model's own first, and `shown` is the one that it opens with.

    `place` is where it opens; `options` are those of the views of heads, as in the address. Of decodings with the same
    path, the first is recorded. `index` is the address of a page that leads to this one.
    """
    different: dict[tuple[int, ...], Told] = {}
    for one in [*decodings, Told(shown, "the path that was on screen")]:
        different.setdefault(one.translation.path, one)
    recordings = [
        Recording(
            Decoding.of(one.translation, trained=trained, chosen_by=one.chosen_by, diagram=diagram),
            one.translation.text,
            one.detail,
            max(one.step, 1),
        )
        for one in different.values()
    ]
    edits = f" Heads were changed: {'; '.join(shown.trace.edits)}." if shown.trace.edits else ""
    about = f"Translated by the model {shown.model}.{edits}"
    opened = list(different).index(shown.path)
    return page(
        recordings,
        place,
        title=shown.source.text,
        facts=[about, *facts],
        at=opened,
        view=view,
        options=options,
        index=index,
    )
