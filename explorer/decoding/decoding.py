"""One decoding: what a run of a model gave for one sentence, as everything that draws it receives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.choices import chosen_rows
from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import ModelDiagram
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

if TYPE_CHECKING:
    from explorer.decoding.translator import Translation


@dataclass(frozen=True, eq=False)
class Decoding:
    """A decoding to draw.

    Args:
        trace: the recorded attention of the whole decoding, `tgt` rows; kinds without weights are left out.
        seq: names this decoding, for instance a hash of model, sentence and path.
        model: the model's name, shown in titles.
        predicted_ids: id of each of the trace's `predicted_tokens` (labels of two ids may look the same); empty where
            they are not known.
        src_unknown: which source tokens the model sees as <unk>; may leave out the final <eos>.
        trained: False puts an "untrained" badge on the views.
        chosen: rows, from 0, whose token is not the one that the model finds likeliest.
        chosen_by: who took those tokens there: "chosen", "drawn at random", "taken by beam search".
        log_sums: [tgt, temperature], for the bars at other temperatures (see model/decoding/temperature.py).
        diagram: the model as a small diagram, in which each place of attention can be chosen.
    """

    trace: AttentionTrace
    seq: str
    model: str
    predicted_ids: tuple[int, ...] = ()
    src_unknown: tuple[bool, ...] = ()
    trained: bool = True
    chosen: tuple[int, ...] = ()
    chosen_by: str = "chosen"
    log_sums: NDArray[np.float32] | None = None
    diagram: ModelDiagram | None = None

    @classmethod
    def of(
        cls, shown: Translation, *, trained: bool, chosen_by: str = "chosen", diagram: ModelDiagram | None
    ) -> Decoding:
        """The decoding of a translation by one of our models."""
        return cls(
            trace=shown.trace,
            seq=shown.seq,
            model=shown.model,
            predicted_ids=shown.path,
            src_unknown=shown.source.unknown,
            trained=trained,
            chosen=chosen_rows(shown.trace, shown.path),
            chosen_by=chosen_by,
            log_sums=shown.log_sums,
            diagram=diagram,
        )


def place_in(
    trace: AttentionTrace,
    *,
    kind: str = "cross",
    layer: int = 0,
    head: int = 0,
    step: int = 0,
    cell: tuple[int, int] | None = None,
) -> Place:
    """The place in a decoding that a link, a page or a browser asks for, with every number moved into range.

    All count from 1. Layer or step 0 means the last one, and head 0 the mean over the heads; of `cell`, (query, key),
    key 0 means that only a row is chosen. A kind that the trace does not have becomes the last one that it has.
    """
    kinds = kinds_of(trace)
    known: AttentionKind = next((one for one in kinds if one == kind), kinds[-1])
    layers, heads, queries, keys = trace.weights(known).shape
    row, column = cell or (0, 0)
    encoder = known == "encoder"
    steps = len(trace.read_tokens)
    step = _within(step, 1, steps) if step else steps
    if row and not encoder:
        step = min(row, queries)
    return Place(
        known,
        _within(layer, 1, layers) if layer else layers,
        _within(head, 0, heads),
        row=_within(row, 1, queries) if encoder else step,
        col=min(column, keys) if column > 0 else None,
        step=step,
    )


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))
