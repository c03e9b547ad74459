"""Summaries of the distribution over the next token, and of how it forms from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class LayerPredictions:
    """The prediction read off after each stage: the embedding, then every decoder layer.

    Shapes:
        probabilities, likeliest: [stage, row], the likeliest token's probability and id. final_probabilities, ranks:
        [stage], of the last row's final prediction; rank 1 is the likeliest.
    """

    probabilities: NDArray[np.float32]
    likeliest: NDArray[np.int64]
    final_probabilities: NDArray[np.float32]
    ranks: NDArray[np.int64]

    @property
    def final(self) -> int:
        """The id that the last row predicts after the last stage."""
        return int(self.likeliest[-1, -1])


def layer_predictions(log_probs: Tensor) -> LayerPredictions:
    """Summarise log-probabilities [stage, row, vocab]; the last stage is the model's real prediction."""
    probabilities, likeliest = log_probs.exp().max(dim=-1)
    final = int(likeliest[-1, -1])
    ranks = (log_probs[:, -1] > log_probs[:, -1, final, None]).sum(dim=-1) + 1
    return LayerPredictions(
        probabilities.numpy(), likeliest.numpy(), log_probs[:, -1, final].exp().numpy(), ranks.numpy()
    )


def effective_choices(probabilities: Tensor) -> float:
    """The number of equally likely tokens with the same entropy: e to the entropy (nats) of probabilities [vocab]."""
    return float(torch.special.entr(probabilities).sum().exp())


def likeliest_with(probabilities: Tensor, token: int, most: int) -> list[int]:
    """Ids of up to `most` likeliest tokens, likeliest first; `token` replaces the last if it is not among them.

    Shapes:
        probabilities: [vocab].
    """
    top: list[int] = probabilities.topk(min(most, len(probabilities))).indices.tolist()
    return top if token in top else [*top[:-1], token]


def shares(probabilities: Tensor, ids: Sequence[int]) -> list[float]:
    """The probabilities of the given token ids."""
    return [float(probabilities[i]) for i in ids]
