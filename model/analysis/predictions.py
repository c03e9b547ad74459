"""Summarise the distribution over the next token, and its development from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.analysis.operations import layer_by_layer, record
from model.decoding.search import output_rules
from model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class LayerPredictions:
    """The prediction after each stage: the embedding, then every decoder layer.

    Shapes:
        probabilities, likeliest: [stage, row], the likeliest token's probability and id. final_probabilities, ranks:
        [stage], of the last row's final prediction; rank 1 is the likeliest.
    All tokens count, also those that are never chosen when the model translates (`never`).
    """

    probabilities: NDArray[np.float32]
    likeliest: NDArray[np.int64]
    final_probabilities: NDArray[np.float32]
    ranks: NDArray[np.int64]
    final: int
    never: tuple[int, ...] = ()


def layer_predictions(log_probs: Tensor, never: tuple[int, ...] = ()) -> LayerPredictions:
    """Summarise log-probabilities [stage, row, vocab]; the final prediction is the likeliest token not in `never`."""
    probabilities, likeliest = log_probs.exp().max(dim=-1)
    final = int(log_probs[-1, -1].index_fill(0, torch.tensor(never, dtype=torch.long), -torch.inf).argmax())
    ranks = (log_probs[:, -1] > log_probs[:, -1, final, None]).sum(dim=-1) + 1
    return LayerPredictions(
        probabilities.numpy(),
        likeliest.numpy(),
        log_probs[:, -1, final].exp().numpy(),
        ranks.numpy(),
        final,
        tuple(sorted(set(never) & set(likeliest.flatten().tolist()))),
    )


@torch.inference_mode()
def predictions_by_layer(model: Transformer, source: Sequence[int], path: Sequence[int], step: int) -> LayerPredictions:
    """Apply the output projection after each stage ("logit lens"), at the rows up to a step of a target."""
    logits = layer_by_layer(model, record(model, source, path, step))
    return layer_predictions(logits.log_softmax(dim=-1), output_rules(model.config).never)
