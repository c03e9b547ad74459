"""What the stage shows at each step: the words so far, the word being written, and the words that it looks at.

The same as in the browser (js/stage_lines.js): a decoder row belongs to the word that it predicts; in the encoder, the
row is that of the source token which cross-attention finds most important at this step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.names import numbered
from explorer.locale.text import percent
from model.trace import VISIBLE, AttentionTrace


@dataclass(frozen=True)
class StageStep:
    """One step.

    Args:
        step, steps: this step, from 1, and how many there are.
        target: the tokens of the target, with the one that is being written last.
        reads, writes: the token that is read, with its position, and the one that is predicted.
        origin: where the lines begin: ("target", index) or ("source", index), from 0.
        keys_in: the sentence of the keys, "source" or "target".
        weights: [key] of the row, NaN where masked.
    """

    step: int
    steps: int
    target: tuple[str, ...]
    reads: str
    writes: str
    origin: tuple[str, int]
    keys_in: str
    weights: NDArray[np.float64]


def stage_steps(trace: AttentionTrace, at: Place) -> Iterator[StageStep]:
    """Every step of a decoding, for one head or (head 0) the mean over the heads of a layer."""
    maps = trace.weights(at.kind)[at.layer - 1]
    values = (maps.mean(axis=0) if at.head == 0 else maps[at.head - 1]).astype(np.float64)
    values = np.where(trace.mask(at.kind) == VISIBLE, values, np.nan)
    steps = len(trace.read_tokens)
    pick = _cross_row(trace)
    for row in range(steps):
        encoder = at.kind == "encoder"
        query = int(np.argmax(pick[row])) if encoder else row
        yield StageStep(
            step=row + 1,
            steps=steps,
            target=(*trace.read_tokens[: row + 1], trace.predicted_tokens[row]),
            reads=numbered(trace.read_tokens)[row],
            writes=trace.predicted_tokens[row],
            origin=("source", query) if encoder else ("target", row + 1),
            keys_in="target" if at.kind == "decoder" else "source",
            weights=values[query, : row + 1] if at.kind == "decoder" else values[query],
        )


def _cross_row(trace: AttentionTrace) -> NDArray[np.float32]:
    """[step, source] of the last layer of cross-attention, from which the encoder's row is chosen."""
    return trace.cross[-1].mean(axis=0) if trace.cross.size else np.zeros((len(trace.read_tokens), 1), np.float32)


def sentence_of(one: StageStep, source: tuple[str, ...]) -> str:
    """The step in words: "reads 5 spielen → predicts im: looks at 6 football 64 %, 9 park 21 %"."""
    names = numbered(source if one.keys_in == "source" else one.target)
    order = np.argsort(-np.nan_to_num(one.weights, nan=-1.0), kind="stable")
    best = [i for n, i in enumerate(order) if n < 3 and (not n or one.weights[i] >= 0.1)]
    keys = ", ".join(f"{names[i]} {percent(float(one.weights[i]))}" for i in best)
    who = f"{names[one.origin[1]]} looks at" if one.origin[0] == "source" else "looks at"
    return f"reads {one.reads} → predicts {one.writes}: {who} {keys}"
