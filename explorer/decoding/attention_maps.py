"""All heads of one kind of attention, between tokens or words, and numbers that summarise each head.

Between words, attention is summed over the keys of a word and averaged over its queries, as in Clark et al. (2019),
"What Does BERT Look At?", section 4.1; rows of words sum to 1, as rows of tokens do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.locale.messages import message
from explorer.locale.scripts import is_leftwards
from model.config import AttentionKind
from model.trace import AttentionTrace

Form = Literal["tokens", "words", "words-next"]
Spans = tuple[tuple[int, int], ...]
Continued = tuple[frozenset[int], frozenset[int], frozenset[int]]
NO_PIECES: Continued = (frozenset(), frozenset(), frozenset())
Scores = NDArray[np.float64]
MIXED = message("mixed")
PLACES = (
    message("itself"),
    message("previous"),
    message("next"),
    message("first"),
    message("last"),
    message("diagonal"),
    message("mirror"),
)
_CLEAR, _ABOVE_CHANCE = 0.5, 1.5  # a favourite has at least this share, and this multiple of chance


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """All heads of one kind, between tokens or between words, with the labels of rows and columns.

    Shapes:
        weights: [layer, head, query, key] float32; mask: [query, key] uint8 codes as in model.trace.
        rows, predicted [query] and columns [key]: labels; `predicted` is empty for the encoder.
        row_spans, column_spans: first token and end (exclusive, from 0) of each row and column.
        leftwards: whether the sentence of the columns is written from right to left.
        continued: the rows, what they predict, and the columns that continue the word of the token before.

    Scores of heads are means over the rows with a choice, that is, with more than one visible key: otherwise the first
    causal row, which sees one key, would make every decoder head look focused. NaN if there is no such row.
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
    leftwards: bool = False
    continued: Continued = NO_PIECES

    @cached_property
    def effective(self) -> Scores:
        """exp(entropy in nats) of every head, in keys: [layer, head]."""
        return mean_over(effective_keys(self.weights), (self.mask == 0).sum(axis=-1) > 1)

    @cached_property
    def shares(self) -> dict[str, Scores]:
        """The mean weight on each position relative to the query, 0 to 1, by name: [layer, head].

        Positions: `itself`, `previous`, `next` and `first` for self-attention; `diagonal` (equally far along the
        sentence), `mirror` (equally far from its end), `first` and `last` for cross-attention. The last source token is
        <eos>.
        """
        shares = {}
        for name, (at, rows) in self._places.items():
            weights = self.weights[..., np.arange(len(at)), at].astype(np.float64)
            shares[name] = mean_over(weights, rows)
        return shares

    @cached_property
    def chance(self) -> dict[str, float]:
        """The share under uniform attention, by the name of the position."""
        counts = (self.mask == 0).sum(axis=-1)
        return {
            name: float((1 / counts[rows]).mean()) if rows.any() else float("nan")
            for name, (_, rows) in self._places.items()
        }

    def role(self, layer: int, head: int) -> str:
        """The favourite relative position of a head (indices from 0), or `mixed` if it has no clear favourite."""
        clear = [
            (float(share[layer, head]), name)
            for name, share in self.shares.items()
            if share[layer, head] >= max(_CLEAR, _ABOVE_CHANCE * min(self.chance[name], 0.66))
        ]
        return max(clear)[1] if clear else MIXED

    @cached_property
    def _places(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        """By relative position: the key of each query, and which rows have such a key and a choice."""
        visible, n_keys = self.mask == 0, self.mask.shape[1]
        places = {}
        for name, keys in _places(self).items():
            at = np.clip(keys, 0, n_keys - 1)
            exists = (visible.sum(axis=-1) > 1) & (keys >= 0) & (keys < n_keys)
            places[name] = (at, exists & np.take_along_axis(visible, at[:, None], axis=1)[:, 0])
        return places


def attention_maps(
    trace: AttentionTrace, kind: AttentionKind, form: Form = "tokens", *, n_prompt: int = 0
) -> AttentionMaps:
    """Select one kind of attention of a trace, in one of three forms.

    `words` joins the decoder rows that read one word, `words-next` those that predict one. A token that belongs to no
    word (a special) stays alone; so does the last row of `words-next`. The first `n_prompt` rows, whose next token was
    given, are not labelled with a prediction.
    """
    read, keys = trace.tokens(kind)
    predicts = kind != "encoder"
    words = trace.tgt_words if predicts else trace.src_words
    if form == "tokens":
        row_spans, column_spans = _single(len(read)), _single(len(keys))
    else:
        row_spans = spans((*words[1:], -1) if form == "words-next" and predicts else words)
        column_spans = spans(trace.tgt_words if kind == "decoder" else trace.src_words)
    weights, mask = trace.weights(kind), trace.mask(kind)
    if len(row_spans) < len(read) or len(column_spans) < len(keys):
        weights, mask = merge(weights, mask, row_spans, column_spans)
    return AttentionMaps(
        kind=kind,
        form=form,
        weights=weights,
        mask=mask,
        rows=tuple(read) if form == "tokens" else _words_at(read, words, [start for start, _ in row_spans]),
        predicted=_predicted(trace, row_spans, form, n_prompt) if predicts else (),
        columns=_joined(keys, column_spans),
        row_spans=row_spans,
        column_spans=column_spans,
        leftwards=is_leftwards_in(trace, "target" if kind == "decoder" else "source"),
        continued=_continued(trace, kind) if form == "tokens" else NO_PIECES,
    )


def _continued(trace: AttentionTrace, kind: AttentionKind) -> Continued:
    source, target = (
        frozenset(i for start, end in spans(words) for i in range(start + 1, end))
        for words in (trace.src_words, trace.tgt_words)
    )
    rows, columns = source if kind == "encoder" else target, target if kind == "decoder" else source
    read = (i for i in target if trace.read_tokens[i] == trace.predicted_tokens[i - 1])
    return rows, frozenset() if kind == "encoder" else frozenset(i - 1 for i in read), columns


def is_leftwards_in(trace: AttentionTrace, side: Literal["source", "target"]) -> bool:
    """Whether the source or the target of a trace is written from right to left."""
    if side == "source":
        return is_leftwards(trace.src_tokens, trace.src_words)
    return is_leftwards((*trace.read_tokens, *trace.predicted_tokens), trace.tgt_words)


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
    """Sum over the keys and average over the queries of each span; a cell is masked if all cells that it joins are.

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


def _words_at(tokens: Sequence[str], words: Sequence[int], places: Sequence[int]) -> tuple[str, ...]:
    """The whole words that contain the tokens at these places."""
    of_token = {i: "".join(tokens[start:end]) for start, end in spans(words) for i in range(start, end)}
    return tuple(of_token[at] for at in places)


def _predicted(trace: AttentionTrace, row_spans: Spans, form: Form, n_prompt: int) -> tuple[str, ...]:
    """What each row leads to: the token, or the whole word, that comes after its last token; "" inside the prompt.

    A prediction that was not read next is a token, because the rest of its word is unknown.
    """
    given = sum(end <= n_prompt for _, end in row_spans)
    if form == "tokens":
        return ("",) * given + trace.predicted_tokens[given:]
    read, count = trace.read_tokens, len(trace.read_tokens)
    after = _words_at(read, trace.tgt_words, [min(end, count - 1) for _, end in row_spans])
    tokens = [trace.predicted_tokens[end - 1] for _, end in row_spans]
    goes_on = [end < count and read[end] == token for (_, end), token in zip(row_spans, tokens, strict=True)]
    labels = [word if on else token for word, token, on in zip(after, tokens, goes_on, strict=True)]
    return ("",) * given + tuple(labels[given:])


def entropy(weights: NDArray[np.floating]) -> Scores:
    """Entropy in nats of the last axis, in double precision; 0 · ln 0 counts as 0.

    Weights that do not sum to 1, as in a file from elsewhere, count as shares of their sum.

    Shapes: weights [..., key] → [...].
    """
    exact = weights.astype(np.float64)
    sums = exact.sum(axis=-1, keepdims=True)
    exact /= np.where(sums > 0, sums, 1)
    # Replacing 0 by the smallest number keeps the logarithm finite, and is faster than masking the zeros.
    logs = np.log(np.maximum(exact, np.finfo(np.float64).tiny))
    total: Scores = -(exact * logs).sum(axis=-1)
    return total


def effective_keys(weights: NDArray[np.floating]) -> Scores:
    """exp(entropy): the number of keys over which uniform attention would have the same entropy, at least 1.

    Shapes: weights [..., key] → [...].
    """
    keys: Scores = np.exp(entropy(weights))
    return keys


def _places(maps: AttentionMaps) -> dict[str, NDArray[np.int64]]:
    """By relative position: the key of each query; out of range where there is none."""
    n_rows, n_keys = maps.mask.shape
    rows = np.arange(n_rows)
    if maps.kind != "cross":
        places = {"itself": rows, "previous": rows - 1}
        if maps.kind == "encoder":
            places["next"] = rows + 1
        return places | {"first": np.zeros_like(rows)}
    return {
        "diagonal": diagonal(n_rows, n_keys),
        "mirror": mirror(n_rows, n_keys),
        "first": np.zeros_like(rows),
        "last": np.full_like(rows, n_keys - 1),
    }


def diagonal(n_rows: int, n_keys: int) -> NDArray[np.int64]:
    """[query]: the key as far along as row t, round(t · (keys - 1) / (rows - 1)): first to first, last to last."""
    keys: NDArray[np.int64] = np.rint(np.arange(n_rows) * (n_keys - 1) / max(n_rows - 1, 1)).astype(np.int64)
    return keys


def mirror(n_rows: int, n_keys: int) -> NDArray[np.int64]:
    """[query]: like :func:`diagonal` in reverse, except the last row and the last key (<eos>), which are paired.

    Out of range if the source is only <eos>.
    """
    rows = np.arange(n_rows)
    keys = np.rint((n_keys - 2) - rows * (n_keys - 2) / max(n_rows - 2, 1))
    paired: NDArray[np.int64] = np.where(rows < n_rows - 1, keys, n_keys - 1).astype(np.int64)
    return paired


def mean_over(values: Scores, rows: NDArray[np.bool_]) -> Scores:
    """Mean of [..., query] over the chosen rows; NaN without any."""
    if not rows.any():
        return np.full(values.shape[:-1], np.nan)
    mean: Scores = values[..., rows].mean(axis=-1)
    return mean
