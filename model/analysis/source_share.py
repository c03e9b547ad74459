"""How much of a prediction comes from the source, and how much from the words written so far (ALTI+).

Each attention sublayer of the decoder is taken apart into one vector for each thing that it mixes. With the standard
deviations of the norms held fixed, these vectors and the biases add up to the sublayer's output, and nothing is left
over. Vectors become shares by how near each comes to the whole, and the shares of all layers are joined from the bottom
to the top (Ferrando, Gállego, Alastruey, Escolano & Costa-jussà 2022, "Towards Opening the Black Box of Neural Machine
Translation", §3). Feed-forward networks work on one position at a time and mix nothing, so they are passed over, as in
the paper.
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
    run = RecordedRun(model, src, read)
    return [
        (_sublayer(run, attention_scope("decoder", layer)), _sublayer(run, attention_scope("cross", layer)))
        for layer in range(config.n_decoder_layers)
    ]


def _sublayer(run: RecordedRun, scope: str) -> Sublayer:
    """Stream plus attention, after the norm that follows where the sum goes nowhere else (post-norm)."""
    (residual,) = run.readers(f"{scope}.out_proj")
    past = run.tensors[run.points[residual].reads[0]]  # [query, d_model]: what the sublayer is added to
    parts, whole = run.written(scope), run.tensors[residual]
    if block_of(scope)[0] == "decoder":  # a query's own stream belongs to its own key
        parts = parts + torch.diag_embed(past.T).permute(1, 2, 0)
    else:
        parts = torch.cat([parts, past[:, None]], dim=1)
    projection = run.module(f"{scope}.out_proj")
    assert isinstance(projection, nn.Linear)
    bias = projection.bias.double().expand_as(past)
    after = run.readers(residual)
    norm = run.module(after[0])
    if len(after) == 1 and isinstance(norm, nn.LayerNorm):
        parts = held_norm(norm, parts.transpose(0, 1), whole).transpose(0, 1)
        bias = held_norm(norm, bias, whole) + norm.bias.double()
    return Sublayer(parts.numpy(), bias.numpy(), (parts.sum(dim=1) + bias).numpy())
