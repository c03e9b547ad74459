"""Which query may attend to which key. True = may attend, everywhere in this project."""

from __future__ import annotations

import torch
from torch import Tensor

from model.config import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Mask the keys that are padding.

    Shapes:
        tokens: [batch, seq] ids.
        returns: [batch, 1, 1, seq] bool, broadcastable to [batch, head, query, key].
    """
    return (tokens != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Mask the future: row t sees keys 0…t (Vaswani et al. 2017, §3.2.3).

    Shapes:
        returns: [1, 1, length, length] bool, the lower triangle with its diagonal.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def target_mask(tokens: Tensor, *, causal: bool = True) -> Tensor:
    """The mask of a decoder that reads a whole target: it hides padding and, if `causal`, the future.

    Shapes:
        tokens: [batch, tgt] ids.
        returns: bool, broadcastable to [batch, head, tgt, tgt]: [batch, 1, tgt, tgt], or [batch, 1, 1, tgt].
    """
    mask = padding_mask(tokens)
    return mask & causal_mask(tokens.size(1), tokens.device) if causal else mask
