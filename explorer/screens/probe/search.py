"""Sentences of the sample in which a head looks from one word to another, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import streamlit as st

from explorer.attention.attention_maps import Form, attention_maps
from explorer.probing.sample import Measured
from explorer.probing.tables import name_of
from explorer.screens.probe.head_card import choose_head
from explorer.text import plain
from explorer.web.page_parts import URL
from model.analysis.recorded_batches import Observed
from model.config import AttentionKind
from model.trace import VISIBLE

MOST = 50
Rows = Literal["read", "predicted"]
Tags = tuple[tuple[str, ...], tuple[str, ...]]
"""Part-of-speech tags of one sentence: of its source tokens and of the tokens read, '' where none is known."""


@dataclass(frozen=True)
class Hit:
    """A place in the sample where a head looks from A to B: sentence, query and key (from 0), their words, weight."""

    sentence: int
    query: str
    key: str
    weight: float


def search(
    observed: Sequence[Observed],
    kind: AttentionKind,
    layer: int,
    head: int,
    query: str,
    key: str,
    *,
    rows: Rows = "read",
    tags: Sequence[Tags] = (),
    whole_words: bool = True,
    most: int = MOST,
) -> list[Hit]:
    """The strongest looks of a head (from 0) from a word to a word, one a sentence, best first.

    Words are compared without regard to case; an empty one stands for any. With `tags`, a part of speech such as NOUN
    may stand in a word's place. `rows` says whether the query is the word that a decoder row reads or predicts. Without
    `whole_words`, tokens are compared as they are: for models of letters.
    """
    found = []
    for index, item in enumerate(observed):
        by_word: Form = "words-next" if rows == "predicted" and kind != "encoder" else "words"
        maps = attention_maps(item.trace, kind, by_word if whole_words else "tokens")
        labels = maps.predicted if rows == "predicted" and kind != "encoder" else maps.rows
        source, target = tags[index] if tags else ((), ())
        row_tags = source if kind == "encoder" else target if rows == "read" else (*target[1:], "")
        column_tags = target if kind == "decoder" else source
        wanted = np.outer(
            _matching(labels, maps.row_spans, row_tags, query),
            _matching(maps.columns, maps.column_spans, column_tags, key),
        )
        open_ = wanted & (maps.mask == VISIBLE)
        if not open_.any():
            continue
        weights = np.where(open_, maps.weights[layer, head], -1.0)
        i, j = np.unravel_index(int(weights.argmax()), weights.shape)
        found.append(Hit(index, f"{i + 1} {labels[i]}", f"{j + 1} {maps.columns[j]}", float(weights[i, j])))
    return sorted(found, key=lambda hit: -hit.weight)[:most]


def _matching(
    labels: Sequence[str], spans: Sequence[tuple[int, int]], tags: Sequence[str], wanted: str
) -> np.ndarray[Any, Any]:
    """Which words are `wanted`: by their letters, or by the tag of their first token."""
    sought = wanted.strip()
    if not sought:
        return np.ones(len(labels), dtype=np.bool_)
    by_tag = [bool(tags) and start < len(tags) and tags[start] == sought for start, _ in spans]
    by_word = [text.strip("▁␣ ").casefold() == sought.casefold() for text in labels]
    return np.array(by_tag) | np.array(by_word)


def _about(tags: Sequence[Tags]) -> str:
    """On which sides a part of speech may stand for a word."""
    known = [name for i, name in enumerate(("source", "target")) if any(any(item[i]) for item in tags)]
    return f" A part of speech, such as NOUN, may stand for a word of the {' or the '.join(known)}." if known else ""


def draw_search(found: Measured, tags: Sequence[Tags] = (), *, whole_words: bool = True) -> None:
    """The search and its results."""
    st.caption(
        "Where in the sample does a head look from one word to another? Leave a field empty for any word."
        + _about(tags)
    )
    kind, layer, head = choose_head(found.probe, "search")
    left, middle, right = st.columns(3)
    query = left.text_input("From (query)", key="search_query", bind=URL)
    key = middle.text_input("To (key)", key="search_key", bind=URL)
    rows: Rows = "read"
    if kind != "encoder":
        with right:
            rows = st.segmented_control(
                "The query is the word that a row",
                ["read", "predicted"],
                format_func={"read": "reads", "predicted": "predicts"}.__getitem__,
                default="read",
                required=True,
                key="search_rows",
                bind=URL,
            )
    hits = search(found.observed, kind, layer, head, query, key, rows=rows, tags=tags, whole_words=whole_words)
    if not hits:
        st.info(
            plain(
                f"No sentence of the sample has '{query.strip() or 'any word'}' and '{key.strip() or 'any word'}' so."
            )
        )
        return
    table = [
        {
            "weight": round(hit.weight, 3),
            "from (query)": hit.query,
            "to (key)": hit.key,
            "source": " ".join(found.observed[hit.sentence].trace.src_tokens[:-1]),
            "target": " ".join(found.observed[hit.sentence].trace.read_tokens[1:]),
        }
        for hit in hits
    ]
    st.dataframe(table, hide_index=True, alt="Sentences in which the head looks from one word to the other")
    best = hits[0]
    st.caption(
        plain(
            f"{kind.capitalize()} {name_of(layer, head)} looks most from {best.query} to {best.key} "
            f"({100 * best.weight:.0f} %) in: {table[0]['source']}. {len(hits)} of {len(found.observed)} sentences "
            f"shown{' (the strongest)' if len(hits) == MOST else ''}."
        )
    )
