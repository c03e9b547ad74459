"""Search the sample for sentences in which a head looks from one word to another, the largest weight first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import Form, attention_maps
from explorer.decoding.names import index_name
from explorer.locale.messages import t, translated
from explorer.locale.text import capitalised, quoted, weight_percent
from model.analysis.recorded_batches import Observed
from model.config import AttentionKind
from model.points import Head
from model.trace import VISIBLE

MAX_HITS = 50
RowLabel = Literal["read", "predicted"]
SELF_ATTENTION: tuple[AttentionKind, ...] = ("encoder", "decoder")


@dataclass(frozen=True)
class Hit:
    """A match: both words with their positions, the weight between them, and the index of the sentence.

    `source` and `target` are the sentence pair, as the words (or tokens) that the positions count.
    """

    sentence: int
    query: str
    key: str
    weight: float
    source: str
    target: str


def search(
    observed: Sequence[Observed],
    kind: AttentionKind,
    layer: int,
    head: int,
    query: str,
    key: str,
    *,
    rows: RowLabel = "read",
    whole_words: bool = True,
    limit: int = MAX_HITS,
) -> list[Hit]:
    """Find the largest weights of a head (from 0) between two words, one per sentence, largest first.

    Matching ignores case; an empty word matches any word. `rows` says whether the query is the word that a decoder row
    reads or predicts. Without `whole_words`, tokens are compared instead of words, for character-level models.
    """
    by_prediction = rows == "predicted" and kind != "encoder"
    form: Form = "tokens" if not whole_words else "words-next" if by_prediction else "words"
    best: list[tuple[float, int, str, str]] = []
    for index, item in enumerate(observed):
        maps = attention_maps(item.trace, kind, form)
        labels = maps.predicted if by_prediction else maps.rows
        candidates = np.outer(_matches(labels, query), _matches(maps.columns, key)) & (maps.mask == VISIBLE)
        if candidates.any():
            weights = np.where(candidates, maps.weights[layer, head], -1.0)
            i, j = np.unravel_index(int(weights.argmax()), weights.shape)
            best.append((float(weights[i, j]), index, f"{i + 1} {labels[i]}", f"{j + 1} {maps.columns[j]}"))
    hits = []
    for weight, index, from_word, to_word in sorted(best, key=lambda hit: -hit[0])[:limit]:
        encoder, decoder = (
            attention_maps(observed[index].trace, stack, "words" if whole_words else "tokens").rows
            for stack in SELF_ATTENTION
        )
        hits.append(Hit(index, from_word, to_word, weight, " ".join(encoder[:-1]), " ".join(decoder[1:])))
    return hits


def _matches(labels: Sequence[str], query: str) -> NDArray[np.bool_]:
    """Which words match by their spelling; all if nothing is asked for."""
    query = query.strip().casefold()
    return np.array([query in ("", text.strip("▁␣ ").casefold()) for text in labels])


def hit_rows(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Hits as rows of a table."""
    return [
        {
            t("weight"): round(hit.weight, 4),
            t("from (query)"): hit.query,
            t("to (key)"): hit.key,
            t("source"): hit.source,
            t("target"): hit.target,
        }
        for hit in hits
    ]


def best_hit_sentence(hits: Sequence[Hit], sentences: int, head: Head) -> str:
    """Describe the strongest hit, and how many of `sentences` are in the table."""
    kind, layer, number = head
    best = hits[0]
    strongest = t(
        "{kind} {head} looks most strongly from {query} to {key} ({weight}) in {sentence}.",
        kind=capitalised(translated(kind)),
        head=index_name(layer, number),
        query=quoted(best.query),
        key=quoted(best.key),
        weight=weight_percent(best.weight),
        sentence=quoted(best.source),
    )
    of = t("{n} sentence", "{n:,} sentences", n=sentences)
    listing = (
        t("{shown} of {sentences} shown (those with the largest weights).", shown=len(hits), sentences=of)
        if len(hits) == MAX_HITS
        else t("{shown} of {sentences} shown.", shown=len(hits), sentences=of)
    )
    return f"{strongest} {listing}"


def no_hit_sentence(query: str, key: str) -> str:
    """The message when nothing matches."""
    from_, to = (quoted(word.strip()) if word.strip() else t("any word") for word in (query, key))
    return t("In no sentence of the sample can this head look from {query} to {key}.", query=from_, key=to)
