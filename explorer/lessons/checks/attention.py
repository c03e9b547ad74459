"""Checks of attention and of its causes: weights, scores, norms, and the effect of other rows, zeroed values, patches.

Head 0 is the mean over heads.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.names import name_in_kind
from explorer.decoding.score_parts import largest_terms, part_label
from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.probing.cross_checks import kept_shares
from explorer.probing.patching import patched
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice, gather
from model.analysis.cross_checks import Counterfactual, value_zeroing
from model.analysis.score_terms import grouped
from model.config import AttentionKind
from model.trace import VISIBLE

Form = Literal["raw", "scaled"]
Side = Literal["query", "key"]
Place = Literal["itself", "previous", "next", "first", "diagonal", "mirror", "last"]
_ROWS: dict[str, Counterfactual] = {"uniform": "uniform", "shuffled": "shuffled", "without_largest": "largest removed"}


def _keys(live: Live, kind: AttentionKind) -> tuple[str, ...]:
    return live.translation.trace.read_tokens if kind == "decoder" else live.translation.trace.src_tokens


@check
def weight(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int) -> Value:
    """An attention weight, 0 to 1."""
    return float(item_at(_row(live, kind, layer, head, row), key, "key"))


@check
def strongest_key(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The token with the largest weight in a row, or that of another rank."""
    return _keys(live, kind)[_ranked(_row(live, kind, layer, head, row), rank)]


@check
def strongest_position(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The position of the token with the largest weight in a row, or of that of another rank."""
    return float(_ranked(_row(live, kind, layer, head, row), rank) + 1)


def _ranked(weights: Any, rank: int) -> int:
    return int(item_at(np.argsort(-weights, kind="stable"), rank, "rank"))


@check
def row_sum(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The sum of a row's weights."""
    return float(_row(live, kind, layer, head, row).astype(np.float64).sum())


@check
def keys_open(live: Live, kind: AttentionKind, row: int) -> Value:
    """The number of keys that a row may look at."""
    return float((item_at(live.translation.trace.mask(kind), row, "row") == VISIBLE).sum())


@check
def masked_cells(live: Live, kind: AttentionKind) -> Value:
    """The number of masked cells of a map."""
    return float((live.translation.trace.mask(kind) != VISIBLE).sum())


@check
def masked_weight(live: Live, kind: AttentionKind) -> Value:
    """The largest weight on a masked cell; 0 if there is none."""
    closed = live.translation.trace.weights(kind)[..., live.translation.trace.mask(kind) != VISIBLE]
    return float(closed.max(initial=0.0))


@check
def effective_keys(live: Live, kind: AttentionKind, layer: int, head: int) -> Value:
    """The effective number of keys of a head: e to the entropy, mean over rows."""
    return float(item_at(item_at(attention_maps(live.translation.trace, kind).effective, layer, "layer"), head, "head"))


@check
def share(live: Live, kind: AttentionKind, layer: int, head: int, place: Place) -> Value:
    """The share of a head's weight on a place: itself, previous, next, first, diagonal, mirror, last."""
    shares = attention_maps(live.translation.trace, kind).shares[place]
    return float(item_at(item_at(shares, layer, "layer"), head, "head"))


@check
def best_head(live: Live, kind: AttentionKind, place: Place) -> Value:
    """The head with the largest share on a place, as 'layer 1, head 2'."""
    shares = attention_maps(live.translation.trace, kind).shares[place]
    layer, head = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    return name_in_kind(int(layer) + 1, int(head) + 1)


@check
def score(
    live: Live,
    kind: AttentionKind,
    layer: int,
    head: int,
    row: int,
    key: int,
    form: Literal["raw", "scaled"] = "scaled",
) -> Value:
    """The dot product of query and key of a cell (form=raw), or divided by √d_head (form=scaled)."""
    place = (kind, layer - 1, head - 1)
    details = item_at(live.translator.details(live.translation, [place])[place].rows, row, "row")
    product = float(details.query @ item_at(details.keys, key, "key"))
    return {"raw": product, "scaled": float(details.scores[key - 1])}[form]


@check
def strongest_norm(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The token that contributes the longest vector to a row: the norm of weight × value × W_O."""
    norms, _ = live.translator.norms(live.translation, kind)
    values = item_at(item_at(item_at(norms, layer, "layer"), head, "head"), row, "row")
    return _keys(live, kind)[int(np.asarray(values).argmax())]


def _row(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Any:
    weights = item_at(live.translation.trace.weights(kind), layer, "layer")
    return item_at(item_at(weights, head, "head") if head else weights.mean(axis=0, dtype=np.float64), row, "row")


@check
def stays(live: Live, rows: Literal["uniform", "shuffled", "without_largest"]) -> Value:
    """The share of predictions that stay the same with other rows of cross-attention, over Probe's sentences."""
    loaded = live.translator.loaded
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, unheard)
    return float(kept_shares(loaded, sample, None, unheard).shares[_ROWS[rows]].value)


@check
def missed_key(live: Live, kind: AttentionKind, layer: int, row: int, rank: int = 1) -> Value:
    """The token whose value, set to zero, changes a row of a layer's output most."""
    translation = live.translation
    source, read = translation.src_ids, translation.read_ids
    item_at(translation.trace.weights(kind), layer, "layer")
    change = value_zeroing(live.translator.loaded.transformer, source, read, kind, layer - 1)
    order = np.argsort(-item_at(change, row, "row"), kind="stable")
    return _keys(live, kind)[int(item_at(order, rank, "rank"))]


@check
def patched_token(live: Live, other: str, row: int, position: int, layer: int = 0) -> Value:
    """The token that a row predicts with one source vector from another sentence: of a layer's output, or layer=0."""
    item_at(live.translation.path, row, "row")
    patches = patched(live.translator.loaded, live.translation, other, row - 1)
    return str(item_at(item_at(patches.instead["encoder"], layer + 1, "layer"), position, "position"))


@check
def largest_part(
    live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, side: Literal["query", "key"]
) -> Value:
    """The part of the query or the key in the largest term of a score, relative to the average of its row."""
    terms = live.translator.explain(live.translation, (kind, layer - 1, head - 1), row - 1).terms
    table, queries, keys = grouped(terms.table_above_row(row - 1, key - 1), terms.query_parts, terms.key_parts)
    first, second = largest_terms(table)[0]
    part = queries[first] if side == "query" else keys[second]
    return part_label(part)


@check
def share_of_key(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, part: str) -> Value:
    """The contribution of a part of the key to a score, as a share of its difference from the row's average."""
    terms = live.translator.explain(live.translation, (kind, layer - 1, head - 1), row - 1).terms
    table, _, keys = grouped(terms.table_above_row(row - 1, key - 1), terms.query_parts, terms.key_parts)
    return float(table[:, [part_label(each) for each in keys].index(part)].sum() / table.sum())
