"""How much of a prediction comes from the source, and how much from the words written so far (ALTI+).

Each attention sublayer of the decoder is taken apart into one vector for each thing that it mixes. With the standard
deviations of the norms held fixed, these vectors and the biases add up to the sublayer's output, and nothing is left
over. Vectors become shares by how near each comes to the whole, and the shares of all layers are joined from the bottom
to the top (Ferrando, Gállego, Alastruey, Escolano & Costa-jussà 2022, "Towards Opening the Black Box of Neural Machine
Translation", §3). Feed-forward networks work on one position at a time and mix nothing, so they are passed over, as in
the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.layers import DecoderLayer
from model.points import attention_scope, embedded, layer_output
from model.recording import PointRecorder
from model.transformer import Transformer
from model.user_error import UserError

Floats = NDArray[np.float64]


class SourceShareError(UserError):
    """A model whose sublayers are not such sums; the message says so."""


@dataclass(frozen=True, eq=False)
class Sublayer:
    """The output of one attention sublayer as a sum: parts [query, part, d_model], biases and output [query, d_model].

    Of self-attention, part j is what comes from position j, through attention and, if it is the query's own, past it.
    Of cross-attention, part j is what comes from source token j; the last part is the stream that goes past it.
    """

    parts: Floats
    bias: Floats
    output: Floats

    def shares(self) -> Floats:
        """How near each part comes to the whole, max(0, ‖y‖₁ - ‖y - part‖₁), as shares of 1: [query, part].

        (Ferrando et al. 2022, §3.1.) A row of which no part comes near is divided evenly.
        """
        whole = np.abs(self.output).sum(axis=-1, keepdims=True)
        near = np.maximum(0.0, whole - np.abs(self.output[:, None] - self.parts).sum(axis=-1))
        none = near.sum(axis=-1, keepdims=True) <= 0
        near = np.where(none, np.abs(self.parts).any(axis=-1), near)
        shares: Floats = near / near.sum(axis=-1, keepdims=True)
        return shares


@torch.inference_mode()
def source_shares(model: Transformer, src: Sequence[int], read: Sequence[int]) -> Floats:
    """The share of each prediction that comes from the source; the rest comes from the target words read: [tgt].

    Shapes: src: ids with <eos>; read: target ids, <sos> first.

    Raises:
        SourceShareError: the model is a variant of which the sublayers are not such sums.
    """
    share = np.zeros(len(read))  # of what stands at each position, before the first layer
    for attention, cross in sublayers(model, src, read):
        share = attention.shares() @ share
        mixed = cross.shares()
        share = mixed[:, :-1].sum(axis=1) + mixed[:, -1] * share
    return share


@torch.inference_mode()
def sublayers(model: Transformer, src: Sequence[int], read: Sequence[int]) -> list[tuple[Sublayer, Sublayer]]:
    """Self-attention and cross-attention of every decoder layer as sums.

    Raises:
        SourceShareError: the model is a variant of which the sublayers are not such sums.
    """
    config = model.config
    if not config.residual or config.layer_norm == "scalar":
        raise SourceShareError(
            "What a prediction comes from cannot be divided up in this model: it leaves out residual connections, or "
            "has another norm. Choose a model with the paper's layers."
        )
    recorder = PointRecorder()
    model(torch.tensor([list(src)]), torch.tensor([list(read)]), tap=recorder)
    points = {name: tensor[0].double() for name, tensor in recorder.tensors.items()}
    stream, found = embedded("tgt", config), []
    for layer, block in enumerate(model.decoder.layers):
        assert isinstance(block, DecoderLayer)
        at = f"decoder.{layer}"
        first = _sublayer(points, block.self_attn, attention_scope("decoder", layer), points[stream], own=True)
        stream, first = _normed(points, first, block.norm1, f"{at}.residual1", f"{at}.norm1", config.norm_first)
        second = _sublayer(points, block.cross_attn, attention_scope("cross", layer), points[stream], own=False)
        _, second = _normed(points, second, block.norm2, f"{at}.residual2", f"{at}.norm2", config.norm_first)
        found.append((first, second))
        stream = layer_output(config, "decoder", layer)
    return found


def _sublayer(
    points: Mapping[str, Tensor], block: MultiHeadAttention, scope: str, stream: Tensor, *, own: bool
) -> Sublayer:
    """Stream plus attention, before the norm that may follow; `own`: a query's own stream belongs to its own key."""
    joined = written(
        points[f"{scope}.weights"],
        points[f"{scope}.value"],
        block.out_proj.weight.double(),
        points.get(f"{scope}.gate"),
    )
    past = torch.diag_embed(stream.T).permute(1, 2, 0) if own else stream[:, None]  # [query, key or 1, d_model]
    parts = joined + past if own else torch.cat([joined, past], dim=1)
    bias = block.out_proj.bias.double().expand_as(stream)
    return Sublayer(parts.numpy(), bias.numpy(), (parts.sum(dim=1) + bias).numpy())


def written(weights: Tensor, values: Tensor, projection: Tensor, gate: Tensor | None = None) -> Tensor:
    """What each key adds to each query, Σ_h α f(x) (Kobayashi et al. 2020, eq. 5), without the bias: [query, key, d].

    Shapes: weights [head, query, key], values [head, key, d_head], projection [d_model, head · d_head], and the gate of
    models that have one, [query, head · d_head].
    """
    heads = projection.view(len(projection), len(values), -1)  # [d_model, head, d_head]
    if gate is None:
        return torch.einsum("hqk,hkd,ohd->qko", weights, values, heads)
    return torch.einsum("hqk,hkd,qhd,ohd->qko", weights, values, gate.view(len(gate), len(values), -1), heads)


def _normed(
    points: Mapping[str, Tensor], part: Sublayer, norm: nn.Module, residual: str, name: str, norm_first: bool
) -> tuple[str, Sublayer]:
    """The sublayer after its norm, where one follows, and the point where the stream then stands."""
    if norm_first:
        return residual, part
    assert isinstance(norm, nn.LayerNorm)
    scale, shift = norm.weight.double().numpy(), norm.bias.double().numpy()
    deviation = np.sqrt(points[residual].var(dim=-1, unbiased=False, keepdim=True).numpy() + norm.eps)

    def linear(values: Floats, by: Floats) -> Floats:
        moved: Floats = scale * (values - values.mean(axis=-1, keepdims=True)) / by
        return moved

    parts, bias = linear(part.parts, deviation[:, None]), linear(part.bias, deviation) + shift
    return name, Sublayer(parts, bias, linear(part.output, deviation) + shift)
