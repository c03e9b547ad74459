"""Why does a head look there? One attention score as an exact table of terms, one for each pair of parts.

With the statistics of the norms held fixed at what they were, the vector that a query or key is projected from is a
sum: the word, its position, what each earlier head and feed-forward network added, and biases. The score q·k / √d_head
is then a sum over pairs of these parts, one from the query and one from the key, and nothing is left over (after Elhage
et al. 2021, "A Mathematical Framework for Transformer Circuits", who do it for two layers without norms).

What is held fixed is not explained: the weights of earlier heads, the activations of feed-forward networks, the
standard deviations by which norms divide, and gates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.config import AttentionKind
from model.layers import DecoderLayer, EncoderLayer
from model.points import Head, attention_scope, embedded
from model.positions import rotary
from model.recording import PointRecorder
from model.tap import Tap, compose
from model.transformer import Transformer
from model.user_error import UserError

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """What wrote one part of a vector; layer and head count from 0.

    word and position: the embeddings; head: an earlier head of some kind of attention; feed_forward: an earlier
    network of the stack "encoder" or "decoder"; bias: all biases, which are the same at every position up to the norms;
    distance: what ALiBi takes off the score, which no vector carries.
    """

    source: Literal["word", "position", "head", "feed_forward", "bias", "distance"]
    stack: AttentionKind | Literal[""] = ""
    layer: int = 0
    head: int = 0

    @property
    def group(self) -> Part:
        """All heads of one kind and layer together; other parts stay as they are."""
        return self._replace(head=-1) if self.source == "head" else self


class ScoreTermsError(UserError):
    """A score that cannot be taken apart; the message says why."""


@dataclass(frozen=True, eq=False)
class HeadTerms:
    """One head over one sentence, with its queries and keys as sums of parts.

    Shapes: queries [part, query, d_head] with `query_parts`, keys [part, key, d_head] with `key_parts`; scores and
    weights [query, key] as the model computed them; seen [query, key]: cells that are not masked. float64. With ALiBi,
    the vectors have one more dimension for each key, in which the products are its bias.
    """

    query_parts: tuple[Part, ...]
    key_parts: tuple[Part, ...]
    queries: Floats
    keys: Floats
    d_head: int
    scores: Floats
    weights: Floats
    seen: NDArray[np.bool_]

    def table(self, query: int, key: int) -> Floats:
        """The terms of one score, [query part, key part]; their sum is the score, masked or not."""
        terms: Floats = self.queries[:, query] @ self.keys[:, key].T / math.sqrt(self.d_head)
        return terms

    def table_above_row(self, query: int, key: int) -> Floats:
        """The terms of one score less their mean over all keys that the query sees: [query part, key part].

        Only this difference matters to the weights: a softmax does not change if all scores of a row rise alike.
        """
        seen = self.seen[query]
        average = self.keys[:, seen].mean(axis=1) if seen.any() else 0.0
        terms: Floats = self.queries[:, query] @ (self.keys[:, key] - average).T / math.sqrt(self.d_head)
        return terms

    def mean_table(self) -> Floats:
        """What draws the weight to where it goes, a mean over the queries that have a choice: [query part, key part].

        For each query, Σ_j (a_ij - 1 / m_i) · terms_ij over its m_i keys: how much higher the score is where the weight
        is than on an average key. The sum of the table is the same difference of whole scores.
        """
        counts = self.seen.sum(axis=1)
        rows = counts > 1
        if not rows.any():
            return np.full((len(self.query_parts), len(self.key_parts)), np.nan)
        drawn = (self.weights - self.seen / np.maximum(counts, 1)[:, None])[rows]  # [row, key]
        looked_at = np.einsum("rk,pkd->prd", drawn, self.keys)
        terms: Floats = np.einsum("qrd,prd->qp", self.queries[:, rows], looked_at) / rows.sum()
        return terms / math.sqrt(self.d_head)


def grouped(
    table: Floats, query_parts: Sequence[Part], key_parts: Sequence[Part]
) -> tuple[Floats, list[Part], list[Part]]:
    """The terms with all heads of one kind and layer added up: the same sum in fewer rows and columns."""
    summed, names = table, []
    for axis, parts in enumerate((query_parts, key_parts)):
        groups = list(dict.fromkeys(part.group for part in parts))
        member = np.array([[part.group == group for part in parts] for group in groups], dtype=np.float64)
        summed = member @ summed if axis == 0 else summed @ member.T
        names.append(groups)
    return summed, names[0], names[1]


@torch.inference_mode()
def head_terms(
    model: Transformer, src: Sequence[int], tgt: Sequence[int], head: Head, tap: Tap | None = None
) -> HeadTerms:
    """Read one sentence pair and take the scores of one head apart.

    Shapes: src: ids with <eos>; tgt: ids that the decoder reads, <sos> first. `tap` may edit the model.

    Raises:
        ScoreTermsError: the model is a variant of which the vectors are not such sums.
    """
    config = model.config
    if not config.residual or not config.scale_scores or config.layer_norm != "standard":
        raise ScoreTermsError(
            "The scores of this model cannot be taken apart: it leaves out residual connections or scaling, or has "
            "another norm. Choose a model with the paper's layers."
        )
    recorder = PointRecorder()
    model(torch.tensor([list(src)]), torch.tensor([list(tgt)]), tap=compose(tap, recorder))
    tensors = {name: tensor[0].double() for name, tensor in recorder.tensors.items()}
    kind, layer, number = head
    query, key, block = _inputs(model, tensors, kind, layer)
    first, end = number * block.d_head, (number + 1) * block.d_head
    scope = attention_scope(kind, layer)
    seen = torch.ones_like(tensors[f"{scope}.scores"][number], dtype=torch.bool)
    if f"{scope}.mask" in tensors:
        seen = tensors[f"{scope}.mask"].bool().expand_as(tensors[f"{scope}.scores"])[number]
    queries, keys = query.projected(block.q_proj, first, end), key.projected(block.k_proj, first, end)
    query_parts, key_parts = tuple(query.parts), tuple(key.parts)
    if kind != "cross" and config.positions == "rope":
        queries, keys = rotary(queries), rotary(keys)  # a rotation of a sum is the sum of the rotations
    if f"{scope}.bias" in tensors:
        bias = tensors[f"{scope}.bias"][number] * math.sqrt(block.d_head)  # [query, key]; scores are divided by it
        queries, keys = _joined(queries, bias), _joined(keys, torch.eye(bias.size(1), dtype=bias.dtype))
        query_parts, key_parts = (*query_parts, Part("distance")), (*key_parts, Part("distance"))
    return HeadTerms(
        query_parts=query_parts,
        key_parts=key_parts,
        queries=queries.numpy(),
        keys=keys.numpy(),
        d_head=block.d_head,
        scores=tensors[f"{scope}.scores"][number].numpy(),
        weights=tensors[f"{scope}.weights"][number].numpy(),
        seen=seen.numpy(),
    )


def _joined(values: Tensor, more: Tensor) -> Tensor:
    """Values [part, position, d_head] with one more part, [position, key], in dimensions of its own."""
    return torch.cat((F.pad(values, (0, more.size(1))), F.pad(more, (values.size(2), 0))[None]))


class Stream:
    """A residual stream as a sum of parts: `values` [part, position, d_model], float64."""

    def __init__(self, parts: list[Part], values: Tensor) -> None:
        self.parts, self.values = parts, values

    def plus(self, parts: list[Part], values: Tensor) -> Stream:
        """The sum with more parts."""
        return Stream([*self.parts, *parts], torch.cat((self.values, values)))

    def with_bias(self, bias: Tensor) -> Stream:
        """The sum with a bias, [d_model], added to the part that holds all biases."""
        values = self.values.clone()
        values[self.parts.index(Part("bias"))] += bias.double()
        return Stream(self.parts, values)

    def normed(self, norm: nn.Module, x: Tensor) -> Stream:
        """After a norm whose statistics are those of x, [position, d_model], what it read: linear in every part.

        LayerNorm(x) = γ (x - mean) / σ + β, and the mean of a sum is the sum of the means.
        """
        assert isinstance(norm, nn.LayerNorm)
        deviation = (x.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        centred = self.values - self.values.mean(dim=-1, keepdim=True)
        return Stream(self.parts, centred / deviation * norm.weight.double()).with_bias(norm.bias)

    def projected(self, linear: nn.Linear, first: int, end: int) -> Tensor:
        """The rows `first` to `end` of W x + b, by part: [part, position, end - first]."""
        values = self.values @ linear.weight[first:end].T.double()
        values[self.parts.index(Part("bias"))] += linear.bias[first:end].double()
        return values


def _inputs(
    model: Transformer, tensors: dict[str, Tensor], kind: AttentionKind, layer: int
) -> tuple[Stream, Stream, MultiHeadAttention]:
    """What the queries and the keys of one attention block are projected from, and the block."""
    encoder = _layers(model, tensors, "encoder", layer if kind == "encoder" else model.config.n_encoder_layers)
    *_, (stream, block) = encoder
    if kind == "encoder":
        assert isinstance(block, EncoderLayer)
        return stream, stream, block.self_attn
    memory = stream
    *_, (stream, block) = _layers(model, tensors, "decoder", layer, cross=kind == "cross")
    assert isinstance(block, DecoderLayer)
    return stream, (memory if kind == "cross" else stream), block.cross_attn if kind == "cross" else block.self_attn


def _layers(
    model: Transformer,
    tensors: dict[str, Tensor],
    stack: Literal["encoder", "decoder"],
    until: int,
    cross: bool = False,
) -> Iterator[tuple[Stream, nn.Module]]:
    """What the first attention block of each layer up to `until` reads; with `cross`, last what the second one reads.

    After the last layer comes what the stack returns.
    """
    config = model.config
    side = "src" if stack == "encoder" else "tgt"
    word, placed = tensors[f"{side}.scaled"], tensors[f"{side}.positions"]
    start = [Part("word"), Part("position"), Part("bias")]
    x = Stream(start, torch.stack((word, placed - word, torch.zeros_like(word))))
    if config.norm_embeddings:
        x = x.normed(model.norm_src if side == "src" else model.norm_tgt, placed)
    layers = (model.encoder if stack == "encoder" else model.decoder).layers
    blocks = ("self_attn", "feed_forward") if stack == "encoder" else ("self_attn", "cross_attn", "feed_forward")
    at = embedded(side, config)
    for number, module in enumerate(layers):
        scope = f"{stack}.{number}"
        for nth, block in enumerate(blocks, start=1):
            norm = getattr(module, f"norm{nth}")
            y = x.normed(norm, tensors[at]) if config.norm_first else x
            if block != "feed_forward" and (number < until or nth <= (2 if cross else 1)):
                if number == until and (nth == 2) == cross:
                    yield y, module
                    return
                if nth == 1:
                    yield y, module
            if block == "feed_forward":
                x = x.plus([Part("feed_forward", stack, number)], tensors[f"{scope}.{block}.linear2"][None])
            else:
                kind: AttentionKind = "cross" if block == "cross_attn" else stack
                output = tensors[f"{scope}.{block}.output"]  # [head, position, d_head]
                if config.attention_gate:
                    gate = tensors[f"{scope}.{block}.gate"]  # [position, d_model]
                    output = output * gate.unflatten(-1, (output.size(0), -1)).transpose(0, 1)
                x = _after_heads(x, getattr(module, block), output, kind, number)
            at = f"{scope}.residual{nth}"
            if not config.norm_first:
                x = x.normed(norm, tensors[at])
                at = f"{scope}.norm{nth}"
    final = (model.encoder if stack == "encoder" else model.decoder).norm
    yield (x.normed(final, tensors[at]) if config.norm_first else x), layers[-1]


def _after_heads(x: Stream, block: nn.Module, output: Tensor, kind: AttentionKind, layer: int) -> Stream:
    """The stream after an attention block: a part for each head, and the bias of the output projection."""
    assert isinstance(block, MultiHeadAttention)
    weight = block.out_proj.weight.double()  # [d_model, d_model], a linear layer's [out, in]
    by_head = weight.view(weight.size(0), block.n_heads, block.d_head)  # [d_model, head, d_head]
    added = torch.einsum("hnd,ohd->hno", output, by_head)
    parts = [Part("head", kind, layer, head) for head in range(block.n_heads)]
    return x.plus(parts, added).with_bias(block.out_proj.bias)
