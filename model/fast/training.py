"""Fast attention for training, which yields no weights: PyTorch's fused kernel, or our own for few keys on a CPU.

Training runs a twin of the model with the very same parameters. The model that is saved, evaluated and shown is
unchanged: its attention is always explicit and in full precision.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any, TypeVar, overload

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import Mask, MultiHeadAttention
from model.attention_variants import AttentionVariant
from model.fast.bf16 import Bf16Linear
from model.fast.dropout import FastDropout
from model.fast.short_attention import LONGEST, short_attention
from model.masks import causal_mask
from model.tap import Linear, current_tap
from model.transformer import Transformer

AnyModel = TypeVar("AnyModel", bound=nn.Module)


class FusedAttention(MultiHeadAttention):
    """Multi-head attention that never forms its weights, so a tap cannot see any intermediate."""

    causal = False
    """Whether a call without a mask means that each query sees only the keys up to its own position."""

    def attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Mask = None,
        dropout_p: float = 0.0,
        point: object = None,
    ) -> tuple[Tensor, Any]:
        """The output of :func:`model.attention.scaled_dot_product_attention`, and None in place of weights.

        The mask may also be additive, see :func:`additive`. `causal` instead of a mask lets a GPU choose its fastest
        kernel.
        """
        causal, on_cpu = self.causal and mask is None, query.device.type == "cpu"
        # On a CPU, these matmuls are too small to gain from bf16.
        with torch.autocast("cpu", enabled=False) if on_cpu else contextlib.nullcontext():
            learned = mask is not None and mask.requires_grad  # a learned bias, for which ours has no gradient
            if on_cpu and not dropout_p and not causal and not learned and key.size(2) <= LONGEST:
                return short_attention(query, key, value, additive(mask, query.dtype)), None
            output = F.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, dropout_p=dropout_p, is_causal=causal
            )
            return output, None

    def point(self, name: str, tensor: Tensor) -> Tensor:
        """Return the tensor as it is.

        Raises:
            ValueError: the call has a tap.
        """
        if not torch.compiler.is_compiling() and current_tap() is not None:
            raise ValueError("the fused kernel does not yield its weights: pass a tap to the explicit model instead.")
        return tensor


class FusedAttentionVariant(AttentionVariant, FusedAttention):
    """Fused attention for the variants; a bias on the scores is added to the mask."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, mask: Mask) -> Tensor:
        """The heads' outputs, [batch, head, query, d_head]."""
        if bias is not None:
            if self.causal and mask is None:
                mask = causal_mask(query.size(2), query.device)
            mask = additive(mask, query.dtype)
            mask = bias.to(query.dtype) if mask is None else mask + bias.to(query.dtype)
        return super().attend(query, key, value, None, mask)


def training_twin(model: AnyModel, *, fused: bool) -> AnyModel:
    """A twin of the model for training: new modules with the very same parameters and buffers.

    Its dropout draws random numbers faster (:mod:`model.fast.dropout`). If `fused`, its attention does not form weights
    (:class:`FusedAttention`), and its linear layers use bf16 on a CPU under autocast (:mod:`model.fast.bf16`).
    """
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared)  # tensors in `shared` are not copied
    causal = isinstance(twin, Transformer) and twin.config.causal
    for name, module in twin.named_modules():
        if type(module) is nn.Dropout:
            module.__class__ = FastDropout
        elif fused and isinstance(module, MultiHeadAttention):
            module.__class__ = FusedAttentionVariant if isinstance(module, AttentionVariant) else FusedAttention
            assert isinstance(module, FusedAttention)
            module.causal = causal and name.startswith("decoder.") and name.endswith(".self_attn")
        elif fused and type(module) in (nn.Linear, Linear):
            module.__class__ = Bf16Linear
    return twin


@overload
def additive(mask: Tensor, dtype: torch.dtype) -> Tensor: ...


@overload
def additive(mask: None, dtype: torch.dtype) -> None: ...


def additive(mask: Mask, dtype: torch.dtype) -> Mask:
    """Convert a mask to the form that kernels add to the scores: 0 where True, -inf elsewhere.

    Done once, it need not be converted in every layer. A mask that is already additive is returned unchanged.
    """
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
