"""Estimate how much of a prediction comes from the source, and how much from the target words so far (ALTI+).

Each attention sublayer of the decoder is decomposed into one vector per input. With the standard deviations of the
norms held fixed, these vectors and the biases add up exactly to the sublayer's output. Each vector's share is its
proximity to the output, and the shares are combined from the first layer to the last (Ferrando, Gállego, Alastruey,
Escolano & Costa-jussà 2022, "Towards Opening the Black Box of Neural Machine Translation", §3). Feed-forward networks
do not mix positions and are skipped, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from model.analysis.decomposition import RecordedRun, held_norm
from model.points import attention_scope, block_of
from model.transformer import Transformer
from model.user_error import UserError

Floats = NDArray[np.float64]


class SourceShareError(UserError):
    """A model whose sublayers cannot be decomposed; the message says why."""


@dataclass(frozen=True, eq=False)
class Sublayer:
    """The output of one attention sublayer as a sum: parts [query, part, d_model], biases and output [query, d_model].

    In self-attention, part j comes from position j: through attention and, at the query's own position, through the
    residual connection. In cross-attention, part j comes from source token j, and the last part through the residual
    connection.
    """

    parts: Floats
    bias: Floats
    output: Floats

    def shares(self) -> Floats:
        """The proximity of each part to the output, max(0, ‖y‖₁ - ‖y - part‖₁), as shares of 1: [query, part].

        If all proximities of a row are 0, its nonzero parts get equal shares. Source: Ferrando et al. 2022, §3.1.
        """
        length = np.abs(self.output).sum(axis=-1, keepdims=True)
        proximity = np.maximum(0.0, length - np.abs(self.output[:, None] - self.parts).sum(axis=-1))
        none = proximity.sum(axis=-1, keepdims=True) <= 0
        proximity = np.where(none, np.abs(self.parts).any(axis=-1), proximity)
        shares: Floats = proximity / proximity.sum(axis=-1, keepdims=True)
        return shares


@torch.inference_mode()
def source_shares(model: Transformer, src: Sequence[int], read: Sequence[int]) -> Floats:
    """The share of each prediction that comes from the source; the rest comes from the target words read: [tgt].

    In a decoder alone, the source is the prompt, and the shares are followed through self-attention (ALTI, Ferrando,
    Gállego & Costa-jussà 2022).

    Shapes: src: ids with <eos>; read: target ids, <sos> first.

    Raises:
        SourceShareError: the model is a variant whose sublayers cannot be decomposed.
    """
    share = np.zeros(0)  # of the source in each position's vector
    for attention, *cross in sublayers(model, src, read):
        by_position = attention.shares()
        if not share.size:  # before the first layer
            share = np.zeros(len(by_position))
            last = not model.config.has_encoder and not model.config.separator  # `read` begins with the prompt's last
            share[: len(share) - len(read) + last] = 1.0
        share = by_position @ share
        for sublayer in cross:
            cross_shares = sublayer.shares()
            share = cross_shares[:, :-1].sum(axis=1) + cross_shares[:, -1] * share
    return share[-len(read) :]


@torch.inference_mode()
def sublayers(model: Transformer, src: Sequence[int], read: Sequence[int]) -> list[tuple[Sublayer, ...]]:
    """Decompose self-attention and, where there is any, cross-attention of every decoder layer.

    Raises:
        SourceShareError: the model is a variant whose sublayers cannot be decomposed.
    """
    config = model.config
    if not config.residual or config.layer_norm == "scalar":
        raise SourceShareError(
            "The origin of a prediction cannot be measured in this model: it lacks residual connections or has another "
            "norm. Choose a model with the paper's layers."
        )
    run = RecordedRun(model, src, read)
    return [
        tuple(_sublayer(run, attention_scope(kind, layer)) for kind in config.kinds if kind != "encoder")
        for layer in range(config.n_decoder_layers)
    ]


def _sublayer(run: RecordedRun, scope: str) -> Sublayer:
    """Decompose stream plus attention; in a post-norm model, after the norm."""
    (residual,) = run.readers(f"{scope}.out_proj")
    stream = run.tensors[run.points[residual].reads[0]]  # [query, d_model], to which the sublayer is added
    parts, total = run.written(scope), run.tensors[residual]
    if block_of(scope)[0] == "decoder":  # a query's own stream belongs to its own key
        parts = parts + torch.diag_embed(stream.T).permute(1, 2, 0)
    else:
        parts = torch.cat([parts, stream[:, None]], dim=1)
    projection = run.module(f"{scope}.out_proj")
    assert isinstance(projection, nn.Linear)
    bias = projection.bias.double().expand_as(stream)
    readers = run.readers(residual)
    norm = run.module(readers[0])
    if len(readers) == 1 and isinstance(norm, nn.LayerNorm):  # post-norm: nothing else reads the sum
        parts = held_norm(norm, parts.transpose(0, 1), total).transpose(0, 1)
        bias = held_norm(norm, bias, total) + norm.bias.double()
    return Sublayer(parts.numpy(), bias.numpy(), (parts.sum(dim=1) + bias).numpy())
