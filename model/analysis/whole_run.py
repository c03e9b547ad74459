"""The recorded runs behind a whole decoding, and the position vectors that were added in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from model.analysis.operations import Walk, walk
from model.architectures import Model
from model.transformer import Transformer


def whole_runs(model: Model, source: Sequence[int], path: Sequence[int]) -> tuple[Walk, ...]:
    """Runs that hold every row of every step of a target path.

    One run over the whole path serves all steps of a causal decoder, whose rows do not change. A decoder that is not
    causal computes all rows anew at every step, so there is a run for each.
    """
    steps = (len(path),) if model.config.causal else range(1, len(path) + 1)
    return tuple(walk(model, source, path, step, whole=True) for step in steps)


@torch.inference_mode()
def added_positions(model: Model, run: Walk) -> dict[str, NDArray[np.float32]]:
    """The vectors that were added to the embeddings, [position, d_model], by their point; empty where none are."""
    found = {}
    if isinstance(model, Transformer):
        for side, encoding in (("src", model.positions_src), ("tgt", model.positions_tgt)):
            point = f"{side}.positions"
            rows = encoding.table(run[point].shape[1])
            if rows is not None:
                found[point] = rows.float().numpy()
    return found
