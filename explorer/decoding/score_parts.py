"""Describe the parts of a score in words: their names, and the pairs that contribute most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.names import short_head, short_kind, short_layer
from explorer.locale.messages import message, t
from explorer.locale.text import fixed, percent, quoted
from model.analysis.score_terms import HeadTerms, Part, grouped
from model.trace import VISIBLE, AttentionTrace

Floats = NDArray[np.float64]

LARGEST = 3  # terms named in a sentence


def part_label(part: Part) -> str:
    """A part where room is short: "word", "encoder L1 H2", "cross L1 heads", "encoder L1 feed-forward"."""
    if part.source == "head":
        which = short_head(part.head + 1) if part.head >= 0 else t("heads")
        return f"{_layer(part)} {which}"
    if part.source == "feed_forward":
        return t("{layer} feed-forward", layer=_layer(part))
    return {"word": t("word"), "position": t("position"), "bias": t("biases"), "distance": t("distance")}[part.source]


def _layer(part: Part) -> str:
    """The layer that a part comes from: "encoder L1"."""
    return f"{short_kind(part.stack)} {short_layer(part.layer + 1)}" if part.stack else short_layer(part.layer + 1)


def part_in_words(part: Part, token: str, position: int) -> str:
    """A part of the vector at a position (from 1) inside a sentence: "the word “books”", "position 4"."""
    if part.source == "word":
        return t("the word {token}", token=quoted(token))
    if part.source == "position":
        return t("position {position}", position=position)
    if part.source == "bias":
        return t("the biases")
    if part.source == "distance":
        return t("the distance (ALiBi)")
    if part.source == "feed_forward":
        return t("what the feed-forward network of {layer} added", layer=_layer(part))
    if part.head < 0:
        return t("what the heads of {layer} added", layer=_layer(part))
    return t("what {head} added", head=part_label(part))


def largest_terms(table: Floats, count: int = LARGEST) -> list[tuple[int, int]]:
    """Indices of the terms that are largest in magnitude, largest first; table [query part, key part]."""
    order = np.argsort(-np.abs(table), axis=None, kind="stable")[:count]
    return [(int(i // table.shape[1]), int(i % table.shape[1])) for i in order]


def explanation(
    table: Floats, query_parts: Sequence[Part], key_parts: Sequence[Part], query: tuple[int, str], key: tuple[int, str]
) -> str:
    """Describe the largest terms of one score; query and key are each a position (from 1) and its token."""
    parts = []
    for i, j in largest_terms(table):
        pair = part_in_words(key_parts[j], key[1], key[0])
        if key_parts[j].source != "distance":  # which is added to the score itself, so it is not a pair of parts
            of_query = part_in_words(query_parts[i], query[1], query[0])
            pair = t("{key} as key and {query} as query", key=pair, query=of_query)
        parts.append(f"{pair}: {_share(float(table[i, j]), table)}")
    return t("{sum} Largest: {terms}.", sum=_sum(table), terms="; ".join(parts))


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The terms of one score, [query part, key part], and their explanation in words."""

    terms: Floats
    query_parts: Sequence[Part]
    key_parts: Sequence[Part]
    words: str


def score_table(terms: HeadTerms, trace: AttentionTrace, at: Place, *, above_row: bool, by_head: bool) -> ScoreTable:
    """Split the score at a place (with a column) into terms, or (`above_row`) its difference from the mean of its row.

    The heads of a layer are one part, or one part each (`by_head`).
    """
    query, key = at.row - 1, (at.column or 1) - 1
    table = terms.table_above_row(query, key) if above_row else terms.table(query, key)
    rows, columns = list(terms.query_parts), list(terms.key_parts)
    if not by_head:
        table, rows, columns = grouped(table, rows, columns)
    row_tokens, column_tokens = trace.tokens(at.kind)
    words = explanation(table, rows, columns, (query + 1, row_tokens[query]), (key + 1, column_tokens[key]))
    return ScoreTable(table, rows, columns, words)


def _sum(table: Floats) -> str:
    total, up, down = float(table.sum()), float(table[table > 0].sum()), float(table[table < 0].sum())
    return t(
        "{n} term that sum to {total}: {up} above zero and {down} below.",
        "{n:,} terms that sum to {total}: {up} above zero and {down} below.",
        n=table.size,
        total=fixed(total, 2, signed=True),
        up=fixed(up, 2, signed=True),
        down=fixed(down, 2, signed=True),
    )


def _share(term: float, table: Floats) -> str:
    """A term as a share of all terms of its sign, so that terms that cancel cannot exceed 100 %."""
    same_sign = float(table[table > 0].sum()) if term > 0 else float(table[table < 0].sum())
    share = percent(term / same_sign) if same_sign else percent(0)
    value = fixed(term, 2, signed=True)
    if term > 0:
        return t("{term}, {share} of what raises it", term=value, share=share)
    return t("{term}, {share} of what lowers it", term=value, share=share)


def terms_map(table: Floats, query_parts: Sequence[Part], key_parts: Sequence[Part], title: str) -> LabelledMap:
    """The terms [query part, key part] as a map, on a scale that is symmetric around 0."""
    return LabelledMap(
        title,
        table.astype(np.float32),
        np.full(table.shape, VISIBLE, dtype=np.uint8),
        _axis(query_parts),
        _axis(key_parts),
        row_title=message("part of the query"),
        column_title=message("part of the key"),
        unit=message("term"),
        top=None,
        signed=True,
        first_row=0,
        first_column=0,
    )


def _axis(parts: Sequence[Part]) -> tuple[str, ...]:
    """The parts of one vector; the stack that wrote it is named only where it looked at the other one."""
    return tuple(part_label(part if part.stack == "cross" else part._replace(stack="")) for part in parts)
