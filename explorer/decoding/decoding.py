"""One decoding: what a run of a model gave for one sentence. Everything that draws it receives this value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import ModelDiagram
from explorer.locale.messages import Later, message
from model.config import AttentionKind
from model.trace import AttentionTrace, kinds_of

NEXT_READ = message("next token read")  # what follows a row of a given target: the model need not have predicted it


@dataclass(frozen=True, eq=False)
class Decoding:
    """A decoding to draw: made by one of our models (a Translation), or read from a file.

    Args:
        trace: the recorded attention of the whole decoding, `tgt` rows; kinds without weights are left out.
        seq: names this decoding, for instance a hash of model, sentence and path.
        model: the model's name, shown in titles.
        path: the ids of the trace's `predicted_tokens` (labels of two ids may look the same); empty if unknown.
        notes: sentences to show beside it.
        src_unknown: which source tokens the model sees as <unk>; the final <eos> may be left out.
        trained: False puts an "untrained" badge on the views.
        chosen: rows, from 0, whose token is not the likeliest one.
        chosen_by: how those tokens got there: "chosen", "drawn at random", "taken by beam search";
            NEXT_READ: the whole target was given.
        joined: [tgt, k], which of the likeliest tokens continue the word before them; empty if unknown.
        log_sums: [tgt, temperature], for the bars at other temperatures (see model/decoding/temperature.py).
        diagram: the model as a small diagram, in which each place of attention can be chosen.
        n_prompt: the first rows, whose predicted token is the next one of a prompt, which was given.
        predicts_prompt: False if the model was never trained to predict in those rows.
    """

    trace: AttentionTrace
    seq: str
    model: str
    path: tuple[int, ...] = ()
    notes: tuple[Later, ...] = ()
    src_unknown: tuple[bool, ...] = ()
    trained: bool = True
    chosen: tuple[int, ...] = ()
    chosen_by: str = "chosen"
    joined: tuple[tuple[bool, ...], ...] = ()
    log_sums: NDArray[np.float32] | None = None
    diagram: ModelDiagram | None = None
    n_prompt: int = 0
    predicts_prompt: bool = True

    @property
    def unpredicted(self) -> int:
        """The number of first rows in which the model was never trained to predict."""
        return 0 if self.predicts_prompt else self.n_prompt


def chosen_rows(trace: AttentionTrace, path: Sequence[int], n_prompt: int = 0) -> tuple[int, ...]:
    """Rows after the prompt, from 0, whose token on `path` [tgt] (ids) is not the likeliest one there."""
    likeliest = np.asarray(trace.top_ids)[:, 0]
    return tuple(int(row) for row in np.flatnonzero(likeliest != np.asarray(path)) if row >= n_prompt)


def can_be_stepped(trace: AttentionTrace) -> bool:
    """Whether the stepper can draw a trace: target and source with cross-attention, or one text that goes on."""
    alone = bool(trace.decoder.size and not trace.src_tokens and any(trace.predicted_tokens))
    return bool(trace.cross.size) or alone


def step_worth_seeing(trace: AttentionTrace, word: str = "", n_prompt: int = 0) -> int:
    """The step, from 1, at which to open a translation.

    This is the step that predicts `word`, if there is one; otherwise the closest race: the step with the smallest
    difference between the probabilities of its two likeliest tokens, the earlier one on a tie. The end of the sentence
    counts only where nothing else is predicted, and the rows of a prompt not at all.
    """
    first = min(n_prompt, len(trace.predicted_tokens) - 1)
    if word in trace.predicted_tokens[first:]:
        return trace.predicted_tokens.index(word, first) + 1
    best = np.sort(np.asarray(trace.top_probabilities, dtype=np.float64), axis=1)[first:, ::-1]
    if best.shape[1] < 2:
        return first + 1
    leads = best[:, 0] - best[:, 1]
    return first + int(np.argmin(leads[: max(1, len(leads) - 1)])) + 1


def place_in(
    trace: AttentionTrace,
    *,
    kind: str = "cross",
    layer: int = 0,
    head: int = 0,
    step: int = 0,
    cell: tuple[int, int] | None = None,
) -> Place:
    """The place in a decoding that a link, a page or a browser asks for, with every number clamped to its range.

    All count from 1. Layer or step 0 means the last one, and head 0 the mean over the heads; of `cell`, (query, key),
    key 0 means that only a row is chosen. A kind that is missing from the trace is replaced by its last kind.
    """
    kinds = kinds_of(trace)
    present: AttentionKind = next((each for each in kinds if each == kind), kinds[-1])
    layers, heads, queries, keys = trace.weights(present).shape
    row, column = cell or (0, 0)
    encoder = present == "encoder"
    steps = len(trace.read_tokens)
    step = _within(step, 1, steps) if step else steps
    if row and not encoder:
        step = min(row, queries)
    return Place(
        present,
        _within(layer, 1, layers) if layer else layers,
        _within(head, 0, heads),
        row=_within(row, 1, queries) if encoder else step,
        column=min(column, keys) if column > 0 else None,
        step=step,
    )


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))
