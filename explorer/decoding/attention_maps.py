"""Attention between words instead of subwords: summed over the keys of a word, averaged over its queries.

So do Clark et al. (2019), "What Does BERT Look At?", section 4.1; rows of words sum to 1, as rows of tokens do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from model.config import AttentionKind
from model.trace import AttentionTrace

Form = Literal["tokens", "words", "words-next"]
FORMS: tuple[Form, ...] = ("tokens", "words", "words-next")
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """All heads of one kind, between tokens or between words, with the labels of rows and columns.

    Shapes:
        weights: [layer, head, query, key] float32; mask: [query, key] uint8 codes as in model.trace.
        rows, predicted [query] and columns [key]: labels; `predicted` is empty for the encoder.
        row_spans, column_spans: first token and end (exclusive, from 0) of each row and column.
    """

    kind: AttentionKind
    form: Form
    weights: NDArray[np.float32]
    mask: NDArray[np.uint8]
    rows: tuple[str, ...]
    predicted: tuple[str, ...]
    columns: tuple[str, ...]
    row_spans: Spans
    column_spans: Spans


def attention_maps(trace: AttentionTrace, kind: AttentionKind, form: Form = "tokens") -> AttentionMaps:
    """One kind of attention of a trace, in one of three forms.

    `words` joins the decoder rows that read one word, `words-next` those that predict one. A token that belongs to no
    word (a special) stays alone; so does the last predicted token, since the rest of its word is unknown.
    """
    read = trace.src_tokens if kind == "encoder" else trace.read_tokens
    predicted = () if kind == "encoder" else trace.predicted_tokens
    keys = trace.read_tokens if kind == "decoder" else trace.src_tokens
    if form == "tokens":
        row_spans, column_spans = _single(len(read)), _single(len(keys))
    else:
        words = trace.src_words if kind == "encoder" else trace.tgt_words
        if form == "words-next" and kind != "encoder":
            words = (*words[1:], -1)
        row_spans = spans(words)
        column_spans = spans(trace.tgt_words if kind == "decoder" else trace.src_words)
    weights, mask = trace.weights(kind), trace.mask(kind)
    if len(row_spans) < len(read) or len(column_spans) < len(keys):
        weights, mask = merge(weights, mask, row_spans, column_spans)
    return AttentionMaps(
        kind=kind,
        form=form,
        weights=weights,
        mask=mask,
        rows=_joined(read, row_spans),
        predicted=_joined(predicted, row_spans) if predicted else (),
        columns=_joined(keys, column_spans),
        row_spans=row_spans,
        column_spans=column_spans,
    )


def has_subwords(trace: AttentionTrace) -> bool:
    """Whether some word has more than one token, so that words and tokens differ."""
    return any(len(spans(words)) < len(words) for words in (trace.src_words, trace.tgt_words))


def spans(words: Sequence[int]) -> Spans:
    """First token and end (exclusive) of each run of tokens of one word; -1 marks a token that belongs to none."""
    starts = [i for i, word in enumerate(words) if i == 0 or word < 0 or word != words[i - 1]]
    ends = [*starts[1:], len(words)] if starts else []
    return tuple(zip(starts, ends, strict=True))


def merge(
    weights: NDArray[np.float32], mask: NDArray[np.uint8], row_spans: Spans, column_spans: Spans
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Sum over the keys and mean over the queries of each span; a cell is masked if all the cells it joins are.

    Shapes: weights [..., query, key] → [..., row span, column span] float32 (added up in float64); mask [query, key].
    """
    rows, columns = [start for start, _ in row_spans], [start for start, _ in column_spans]
    lengths = np.array([end - start for start, end in row_spans])[:, None]
    summed: NDArray[Any] = np.add.reduceat(weights.astype(np.float64), columns, axis=-1)
    mean = np.add.reduceat(summed, rows, axis=-2) / lengths
    codes = np.minimum.reduceat(np.minimum.reduceat(mask, columns, axis=-1), rows, axis=-2)
    return mean.astype(np.float32), codes


def _single(count: int) -> Spans:
    return tuple((i, i + 1) for i in range(count))


def _joined(tokens: Sequence[str], parts: Spans) -> tuple[str, ...]:
    return tuple("".join(tokens[start:end]) for start, end in parts)
