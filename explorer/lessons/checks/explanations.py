"""Checks of why a model looks where it looks, and of whether a prediction rests on it.

Layers, heads and positions count from 1; head 0 is the mean over heads. Every check raises IndexError, KeyError or
ValueError where the sentence or the model has no such part; `registry.answer` turns that into a sentence.
"""

from __future__ import annotations

import numpy as np

from explorer.decoding.score_parts import largest_terms, part_label
from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.probing.cross_checks import kept_shares
from explorer.probing.patching import patched
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice, gather
from model.analysis.cross_checks import Counterfactual, value_zeroing
from model.analysis.score_terms import grouped
from model.config import EOS, SOS, AttentionKind

_ROWS: dict[str, Counterfactual] = {"uniform": "uniform", "shuffled": "shuffled", "without_largest": "largest removed"}


@check("rows:uniform|shuffled|without_largest")
def stays(live: Live, rows: str) -> Value:
    """The share of predictions that stay when their rows of cross-attention are replaced, over Probe's sentences."""
    loaded = live.translator.loaded
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, unheard)
    return float(kept_shares(loaded, sample, None, unheard).shares[_ROWS[rows]].value)


@check("kind:kind layer:count row:count", "rank:count")
def missed_key(live: Live, kind: AttentionKind, layer: int, row: int, rank: int = 1) -> Value:
    """The token whose value is missed most in a row of a layer's output when it is set to zero."""
    shown = live.shown
    source, read = (*shown.source.ids, EOS), (SOS, *shown.path[:-1])
    item_at(shown.trace.weights(kind), layer, "layer")
    change = value_zeroing(live.translator.loaded.transformer, source, read, kind, layer - 1)
    order = np.argsort(-item_at(change, row, "row"), kind="stable")
    tokens = shown.trace.read_tokens if kind == "decoder" else shown.trace.src_tokens
    return tokens[int(item_at(order, rank, "rank"))]


@check("other:word row:count position:count", "layer:count")
def patched_token(live: Live, other: str, row: int, position: int, layer: int = 0) -> Value:
    """The token that a row predicts with one source vector from another sentence: of a layer's output, or layer=0."""
    item_at(live.shown.path, row, "row")
    found = patched(live.translator, live.shown, other, row - 1)
    return str(item_at(item_at(found.instead["encoder"], layer + 1, "layer"), position, "position"))


@check("kind:kind layer:count head:count row:count key:count side:query|key")
def largest_part(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, side: str) -> Value:
    """The part of the query or of the key in the term that adds most to a score, beside the average of its row."""
    terms = live.translator.terms(live.shown, (kind, layer - 1, head - 1), row - 1)
    table, queries, keys = grouped(terms.table_above_row(row - 1, key - 1), terms.query_parts, terms.key_parts)
    first, second = largest_terms(table)[0]
    part = queries[first] if side == "query" else keys[second]
    return part_label(part)


@check("kind:kind layer:count head:count row:count key:count part:word")
def share_of_key(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, part: str) -> Value:
    """What a part of the key adds to a score, as a share of how far it is above the average of its row."""
    terms = live.translator.terms(live.shown, (kind, layer - 1, head - 1), row - 1)
    table, _, keys = grouped(terms.table_above_row(row - 1, key - 1), terms.query_parts, terms.key_parts)
    return float(table[:, [part_label(each) for each in keys].index(part)].sum() / table.sum())
