"""Patch vectors of another sentence into one sentence, to find which vector carries their difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import short_layer
from explorer.decoding.translator import Translation
from explorer.locale.text import fixed, percent, quoted
from model.analysis.patching import PatchGrid, Stack, patch_grid
from model.checkpoint import LoadedModel
from model.config import EOS

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Patched:
    """A grid of patches with the tokens at its positions.

    `tokens` and `other_tokens`: the source tokens of this sentence and of the other one, with <eos>; `read`: the target
    tokens up to the row that predicts `predicted`. `instead`: the likeliest token after each patch, by stack.
    """

    grid: PatchGrid
    tokens: tuple[str, ...]
    other_tokens: tuple[str, ...]
    read: tuple[str, ...]
    predicted: str
    instead: dict[Stack, list[list[str]]]

    def change(self, stack: Stack) -> Floats:
        """[point, position]: the change of the log-probability of the predicted token, in nats."""
        return self.grid.log_probs[stack] - self.grid.own

    def columns(self, stack: Stack) -> tuple[str, ...]:
        """Labels of the positions; in the source, both tokens where they differ."""
        if stack == "decoder" and "encoder" in self.instead:
            return self.read
        pairs = zip(self.tokens, self.other_tokens, strict=True)
        return tuple(own if own == other else f"{own} ← {other}" for own, other in pairs)

    def caption(self, stack: Stack) -> str:
        """Describe the effect of the patch with the largest effect."""
        change = self.change(stack)
        point, position = (int(i) for i in np.unravel_index(int(np.abs(change).argmax()), change.shape))
        patched = math.exp(self.grid.own + change[point, position])
        where = "embedding" if point == 0 else f"output of {short_layer(point)}"
        instead = self.instead[stack][point][position]
        outcome = f"{quoted(instead)} becomes likeliest" if instead != self.predicted else "it stays the likeliest"
        return (
            f"{stack.capitalize()}: {quoted(self.predicted)} has {percent(math.exp(self.grid.own), 1)} here and "
            f"{percent(math.exp(self.grid.other), 1)} with all of the other source. The largest effect of a single "
            f"vector is at {position + 1} {quoted(self.columns(stack)[position])}, {where}: {percent(patched, 1)} "
            f"({fixed(float(change[point, position]), 2, signed=True)} nats); {outcome}."
        )


def point_names(n_points: int) -> list[str]:
    """Names of the rows of a grid: "embedding", "L1", …"""
    return ["embedding", *(short_layer(layer) for layer in range(1, n_points))]


def patched(loaded: LoadedModel, translation: Translation, other_text: str, row: int) -> Patched:
    """Patch another source into a translation, vector by vector, and record the prediction of one row (from 0).

    Raises:
        PatchError: the sentences cannot be patched into each other.
    """
    other, label = loaded.source.encode(other_text), loaded.target.label
    config, path = loaded.model_config, translation.path[: row + 1]
    given = () if config.has_encoder else config.prompt(other.ids)[1:]
    other_src, other_read = config.inputs(other.ids, (*given, *path[len(given) :]))
    grid = patch_grid(
        loaded.transformer, translation.src_ids, other_src, translation.read_ids[: row + 1], path[row], other_read
    )
    return Patched(
        grid,
        tuple(translation.trace.src_tokens or translation.trace.read_tokens[: row + 1]),
        tuple(label(i) for i in other_read) if not other_src else (*other.tokens, label(EOS)),
        tuple(translation.trace.read_tokens[: row + 1]),
        translation.trace.predicted_tokens[row],
        {stack: [[label(token) for token in line] for line in ids.tolist()] for stack, ids in grid.likeliest.items()},
    )
