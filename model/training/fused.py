"""Training with PyTorch's fused attention kernel, which is fast and never computes the weights as a tensor.

Evaluation is always explicit: the model that is saved, evaluated and shown is unchanged. Training runs a twin of it
with the very same parameters.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from model.attention import Mask, MultiHeadAttention
from model.tap import Tap
from model.transformer import Transformer


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Mask = None,
    dropout_p: float = 0.0,
    tap: Tap | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Any]:
    """The output of :func:`model.attention.scaled_dot_product_attention`, and None in place of weights.

    The mask may also be additive, see :func:`additive`. `scale` is that of the scores, 1 / √d_head by default.

    Raises:
        ValueError: a tap was given, but the weights never exist.
    """
    if tap is not None:
        raise ValueError("the fused kernel does not show its weights: give a tap to the explicit model.")
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout_p, scale=scale), None


def fused_unscaled_attention(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> tuple[Tensor, Any]:
    """The same with scores that are not divided by √d_head."""
    return fused_attention(query, key, value, scale=1.0, **options)


class FusedAttention(MultiHeadAttention):
    """Multi-head attention by the fused kernel."""

    attention = staticmethod(fused_attention)


class FusedUnscaledAttention(FusedAttention):
    """The same for `scale_scores=false`."""

    attention = staticmethod(fused_unscaled_attention)


def fused_twin(model: Transformer) -> Transformer:
    """A twin of the model with fused attention: new modules around the very same parameters and buffers."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared)  # what `shared` holds is not copied
    for module in twin.modules():
        if isinstance(module, MultiHeadAttention):
            module.__class__ = FusedAttention if model.config.scale_scores else FusedUnscaledAttention
    return twin


def additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask as the kernel takes it without converting it in every layer: 0 where True, -inf elsewhere."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
