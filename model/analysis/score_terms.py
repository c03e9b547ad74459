"""Decompose one attention score exactly into terms, one for each pair of parts of query and key.

With the statistics of the norms held fixed, the vector that a query or key is projected from is a sum: the word, its
position, the outputs of each earlier head and feed-forward network, and biases. The score q·k / √d_head is then exactly
a sum over pairs of these parts, one from the query and one from the key (after Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits", for two layers without norms).

The quantities held fixed are not explained: the weights of earlier heads, the activations of feed-forward networks, the
standard deviations in the norms, and gates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from model.analysis.decomposition import RecordedRun, held_norm
from model.config import AttentionKind
from model.points import Head, attention_scope, block_of
from model.positions import rotary
from model.tap import Tap
from model.transformer import Transformer
from model.user_error import UserError

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """The origin of one part of a vector; layer and head count from 0.

    word and position: the embeddings; head: an earlier head of some kind of attention; feed_forward: an earlier
    network of the stack "encoder" or "decoder"; bias: all biases, which are the same at every position up to the norms;
    distance: ALiBi's bias, which is part of the score but of no vector.
    """

    source: Literal["word", "position", "head", "feed_forward", "bias", "distance"]
    stack: AttentionKind | Literal[""] = ""
    layer: int = 0
    head: int = 0

    @property
    def group(self) -> Part:
        """The group of a part: all heads of one kind and layer together; other parts are groups of their own."""
        return self._replace(head=-1) if self.source == "head" else self


WORD, POSITION, BIAS = Part("word"), Part("position"), Part("bias")


class ScoreTermsError(UserError):
    """A score that cannot be decomposed; the message says why."""


@dataclass(frozen=True, eq=False)
class HeadTerms:
    """One head over one sentence, with its queries and keys as sums of parts.

    Shapes: queries [part, query, d_head] with `query_parts`, keys [part, key, d_head] with `key_parts`; scores
    [query, key] as the model computed them; seen [query, key]: cells that are not masked. float64. With ALiBi,
    the vectors have one more dimension for each key, in which the products are its bias.
    """

    query_parts: tuple[Part, ...]
    key_parts: tuple[Part, ...]
    queries: Floats
    keys: Floats
    d_head: int
    scores: Floats
    seen: NDArray[np.bool_]

    def table(self, query: int, key: int) -> Floats:
        """The terms of one score, [query part, key part]; their sum is the score, masked or not."""
        terms: Floats = self.queries[:, query] @ self.keys[:, key].T / math.sqrt(self.d_head)
        return terms

    def table_above_row(self, query: int, key: int) -> Floats:
        """The terms of one score minus their mean over all keys that the query sees: [query part, key part].

        Only this difference affects the weights: adding a constant to a row of scores does not change its softmax.
        """
        seen = self.seen[query]
        average = self.keys[:, seen].mean(axis=1) if seen.any() else 0.0
        terms: Floats = self.queries[:, query] @ (self.keys[:, key] - average).T / math.sqrt(self.d_head)
        return terms


def grouped(
    table: Floats, query_parts: Sequence[Part], key_parts: Sequence[Part]
) -> tuple[Floats, list[Part], list[Part]]:
    """Add up the terms of all heads of one kind and layer; returns the table and the groups of both sides."""
    groups = [list(dict.fromkeys(part.group for part in parts)) for parts in (query_parts, key_parts)]
    rows, columns = (
        np.array([[part.group == group for part in parts] for group in side], dtype=np.float64)
        for side, parts in zip(groups, (query_parts, key_parts), strict=True)
    )
    return rows @ table @ columns.T, groups[0], groups[1]


@torch.inference_mode()
def head_terms(
    model: Transformer, src: Sequence[int], tgt: Sequence[int], head: Head, tap: Tap | None = None
) -> HeadTerms:
    """Read one sentence pair and decompose the scores of one head.

    Shapes: src: ids with <eos>; tgt: ids that the decoder reads, <sos> first. `tap` may edit the model.

    Raises:
        ScoreTermsError: the model is a variant whose scores cannot be decomposed.
    """
    config = model.config
    if not config.residual or not config.scale_scores or config.layer_norm != "standard":
        raise ScoreTermsError(
            "The scores of this model cannot be decomposed: it lacks residual connections or scaling, or has another "
            "norm. Choose a model with the paper's layers."
        )
    kind, layer, number = head
    scope, run = attention_scope(kind, layer), RecordedRun(model, src, tgt, tap)
    scores = run.tensors[f"{scope}.scores"][number]
    seen = torch.ones_like(scores, dtype=torch.bool)
    if f"{scope}.mask" in run.tensors:
        seen = run.tensors[f"{scope}.mask"].bool().expand_as(run.tensors[f"{scope}.scores"])[number]
    d_head = run.tensors[f"{scope}.query"].size(-1)
    group = config.n_heads(kind) * d_head // config.key_value_width(kind)  # heads that share a key
    streams = _Streams(run)
    by_query, by_key = (
        streams.projected(f"{scope}.{name}", slice(n * d_head, (n + 1) * d_head))
        for name, n in (("q_proj", number), ("k_proj", number // group))
    )
    query_parts, key_parts = tuple(by_query), tuple(by_key)
    queries, keys = (torch.stack(list(parts.values())) for parts in (by_query, by_key))
    if kind != "cross" and config.positions == "rope":
        # The rotation of a sum is the sum of the rotations.
        queries, keys = (rotary(x, base=config.rope_base, halves=config.rope_halves) for x in (queries, keys))
    if f"{scope}.bias" in run.tensors:
        bias = run.tensors[f"{scope}.bias"][number] * math.sqrt(d_head)  # [query, key]; terms are divided by √d_head
        queries, keys = _with_part(queries, bias), _with_part(keys, torch.eye(bias.size(1), dtype=bias.dtype))
        query_parts, key_parts = (*query_parts, Part("distance")), (*key_parts, Part("distance"))
    return HeadTerms(
        query_parts=query_parts,
        key_parts=key_parts,
        queries=queries.numpy(),
        keys=keys.numpy(),
        d_head=d_head,
        scores=scores.numpy(),
        seen=seen.numpy(),
    )


def _with_part(values: Tensor, part: Tensor) -> Tensor:
    """Add a part [position, key] to values [part, position, d_head], in additional dimensions."""
    return torch.cat((F.pad(values, (0, part.size(1))), F.pad(part, (values.size(2), 0))[None]))


class _Streams:
    """Decomposes the vectors of a recorded run, each point from the points that it reads.

    Shapes: by part, [position, d_model], float64.
    """

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._cache: dict[str, dict[Part, Tensor]] = {}

    def at(self, point: str) -> dict[Part, Tensor]:
        """The parts of the vectors at a point of the residual stream, or of a vector that is added to it."""
        if point not in self._cache:
            self._cache[point] = self._parts(point)
        return self._cache[point]

    def _parts(self, point: str) -> dict[Part, Tensor]:
        run = self._run
        module, reads, scope = run.module(point), run.points[point].reads, point.rpartition(".")[0]
        if point in ("src.positions", "tgt.positions"):
            word = run.tensors[reads[0]]
            return {WORD: word, POSITION: run.tensors[point] - word, BIAS: torch.zeros_like(word)}
        if isinstance(module, nn.LayerNorm):
            x = run.tensors[reads[0]]
            normed = {part: held_norm(module, vectors, x) for part, vectors in self.at(reads[0]).items()}
            return _sum(normed, {BIAS: module.bias.double().expand_as(x)})
        if point.endswith(".out_proj"):
            return self._heads(scope)
        if point.endswith(".feed_forward.linear2"):
            stack, layer, _ = scope.split(".")
            return {Part("feed_forward", stack, int(layer)): run.tensors[point]}  # type: ignore[arg-type]
        return _sum(*map(self.at, reads))  # a residual connection

    def _heads(self, scope: str) -> dict[Part, Tensor]:
        """The output of an attention block: a part for each head, and the bias of the output projection."""
        run, (kind, layer) = self._run, block_of(scope)
        output, gate = run.tensors[f"{scope}.output"], run.gate(scope)  # [head, position, d_head]
        if gate is not None:
            output = output * gate.transpose(0, 1)
        added = torch.einsum("hnd,ohd->hno", output, run.by_head(scope))
        projection = run.module(f"{scope}.out_proj")
        assert isinstance(projection, nn.Linear)
        heads = {Part("head", kind, layer, head): vectors for head, vectors in enumerate(added)}
        return {**heads, BIAS: projection.bias.double().expand_as(added[0])}

    def projected(self, point: str, rows: slice) -> dict[Part, Tensor]:
        """The parts of some rows of the projection W x + b at a point, such as those of one head: [position, row]."""
        linear = self._run.module(point)
        assert isinstance(linear, nn.Linear)
        (read,) = self._run.points[point].reads
        parts = {part: vectors @ linear.weight[rows].T.double() for part, vectors in self.at(read).items()}
        return _sum(parts, {BIAS: linear.bias[rows].double().expand_as(parts[BIAS])})


def _sum(*sums: dict[Part, Tensor]) -> dict[Part, Tensor]:
    """Add up several sums, part by part."""
    total: dict[Part, Tensor] = {}
    for parts in sums:
        for part, vectors in parts.items():
            total[part] = total[part] + vectors if part in total else vectors
    return total
