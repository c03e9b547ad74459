"""Checks of attention: weights, masks, shares of heads, scores and norms.

Layers, heads and positions count from 1; head 0 is the mean over heads. Every check raises IndexError, KeyError or
ValueError where the sentence or the model has no such part; `registry.answer` turns that into a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.head_summary import summarise
from explorer.decoding.names import name_in_kind
from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from model.config import AttentionKind
from model.trace import VISIBLE

_HEAD = "kind:kind layer:count head:count"


def _keys(live: Live, kind: AttentionKind) -> tuple[str, ...]:
    return live.shown.trace.read_tokens if kind == "decoder" else live.shown.trace.src_tokens


@check(f"{_HEAD} row:count key:count")
def weight(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int) -> Value:
    """An attention weight, 0 to 1."""
    return float(item_at(_row(live, kind, layer, head, row), key, "key"))


@check(f"{_HEAD} row:count", "rank:count")
def strongest_key(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The token with the largest weight in a row, or the one of a lower rank."""
    return _keys(live, kind)[_ranked(_row(live, kind, layer, head, row), rank)]


@check(f"{_HEAD} row:count", "rank:count")
def strongest_position(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The position of the token with the largest weight in a row, or of a lower rank."""
    return float(_ranked(_row(live, kind, layer, head, row), rank) + 1)


def _ranked(weights: Any, rank: int) -> int:
    return int(item_at(np.argsort(-weights, kind="stable"), rank, "rank"))


@check(f"{_HEAD} row:count")
def row_sum(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The sum of a row's weights."""
    return float(_row(live, kind, layer, head, row).astype(np.float64).sum())


@check("kind:kind row:count")
def keys_open(live: Live, kind: AttentionKind, row: int) -> Value:
    """The number of keys that a row may look at."""
    return float((item_at(live.shown.trace.mask(kind), row, "row") == VISIBLE).sum())


@check("kind:kind")
def masked_cells(live: Live, kind: AttentionKind) -> Value:
    """The number of masked cells of a map."""
    return float((live.shown.trace.mask(kind) != VISIBLE).sum())


@check("kind:kind")
def masked_weight(live: Live, kind: AttentionKind) -> Value:
    """The largest weight on a masked cell; 0 where there is none."""
    closed = live.shown.trace.weights(kind)[..., live.shown.trace.mask(kind) != VISIBLE]
    return float(closed.max(initial=0.0))


@check(_HEAD)
def effective_keys(live: Live, kind: AttentionKind, layer: int, head: int) -> Value:
    """The effective number of keys of a head: e to the entropy, mean over rows."""
    return float(
        item_at(item_at(summarise(attention_maps(live.shown.trace, kind)).effective, layer, "layer"), head, "head")
    )


@check(f"{_HEAD} place:itself|previous|next|first|diagonal|mirror|last")
def share(live: Live, kind: AttentionKind, layer: int, head: int, place: str) -> Value:
    """The share of a head's weight on a place: itself, previous, next, first, diagonal, mirror, last."""
    shares = summarise(attention_maps(live.shown.trace, kind)).shares[place]
    return float(item_at(item_at(shares, layer, "layer"), head, "head"))


@check("kind:kind place:itself|previous|next|first|diagonal|mirror|last")
def best_head(live: Live, kind: AttentionKind, place: str) -> Value:
    """The head with the largest share on a place, as 'layer 1, head 2'."""
    shares = summarise(attention_maps(live.shown.trace, kind)).shares[place]
    layer, head = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    return name_in_kind(int(layer) + 1, int(head) + 1)


@check(f"{_HEAD} row:count key:count", "form:raw|scaled")
def score(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, form: str = "scaled") -> Value:
    """The dot product of query and key of a cell (form=raw), or divided by √d_head (form=scaled)."""
    one = (kind, layer - 1, head - 1)
    details = item_at(live.translator.details(live.shown, [one])[one].rows, row, "row")
    product = float(details.query @ item_at(details.keys, key, "key"))
    return {"raw": product, "scaled": float(details.scores[key - 1])}[form]


@check(f"{_HEAD} row:count")
def strongest_norm(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The token that contributes the longest vector to a row: the norm of weight × value × W_O."""
    norms, _ = live.translator.norms(live.shown, kind)
    values = item_at(item_at(item_at(norms, layer, "layer"), head, "head"), row, "row")
    return _keys(live, kind)[int(np.asarray(values).argmax())]


def _row(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Any:
    weights = item_at(live.shown.trace.weights(kind), layer, "layer")
    return item_at(_map(weights, head), row, "row")


def _map(heads: Any, head: int) -> Any:
    return heads.mean(axis=0, dtype=np.float64) if head == 0 else item_at(heads, head, "head")
