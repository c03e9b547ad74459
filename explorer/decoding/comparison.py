"""Compare two maps side by side: their difference, if words stand in line, and sentences on what is different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import LabelledMap, difference, head_map
from explorer.decoding.names import KIND_NAMES
from explorer.decoding.pair_marks import (
    DIFFERENT,
    MOST_NAMED,
    NAMED_FROM,
    Counterparts,
    counterparts,
    lone_words,
    marked,
    marks_of_difference,
    name_of,
    row_axis,
    subtracted,
    words_along,
    worth_naming,
)
from explorer.locale.messages import t, translated
from explorer.locale.text import fixed, listed, quoted
from model.edits import HeadEdit, HeadEdits, Operation
from model.trace import AttentionTrace
from model.user_error import UserError


class NothingToCompare(UserError):
    """There is no second map to compare with; the message says what is missing."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two maps A and B, B minus A if rows have counterparts, and sentences: on what is compared, and on marks."""

    first: LabelledMap
    second: LabelledMap
    difference: LabelledMap | None
    caption: str
    legend: str = ""


def compare(a: LabelledMap, b: LabelledMap) -> Comparison:
    """Put two maps beside each other, with the difference of what has counterparts, and mark in all what differs."""
    first, second, legend, words = marked(a, b)
    minus = subtracted(a, b)
    return Comparison(
        first, second, minus and replace(minus, marks=marks_of_difference(minus, first.marks)), words, legend
    )


def pair_in_words(comparison: Comparison) -> str:
    """Name the counterparts that differ most, or both that are framed; "" if none differ in the decimals given."""
    a, b = comparison.first, comparison.second
    pairs = counterparts(a, b)
    if worth_naming(pairs):
        differing = [pair for pair in pairs if pair.change >= DIFFERENT]
        return " ".join(_pair_in_words(a, b, pair) for pair in (differing if len(differing) == 2 else pairs[:1]))
    minus = comparison.difference
    if minus and minus.values.shape == a.values.shape == b.values.shape and pairs and not pairs[0].change:
        return t("Both maps are equal in every cell.")
    return ""


def _pair_in_words(a: LabelledMap, b: LabelledMap, pair: Counterparts) -> str:
    writes = row_axis(a, b) == 1 and all(map_.predicted[at] for map_, at in zip((a, b), pair.rows, strict=True))
    axis = int(writes)  # a row inside a prompt writes nothing
    rows = [_word_of(each, axis, at) for each, at in zip((a, b), pair.rows, strict=True)]
    keys = [
        _with_weight(name_of(each, 2, word), weight, len(word), _elsewhere(a, b, pair, side))
        for side, (each, word, weight) in enumerate(zip((a, b), pair.words, pair.weights, strict=True))
    ]
    return _looks_more(rows, keys, pair.weights, writes=writes)


def _looks_more(rows: Sequence[str], keys: Sequence[str], weights: Sequence[float], *, writes: bool) -> str:
    """Say in which of two maps, A or B, a row looks more at a word; rows are named by what they write, or read.

    `keys` are named with their weights.
    """
    more, less = (0, 1) if weights[0] > weights[1] else (1, 0)
    word, its = quoted(rows[more]), quoted(rows[less])
    first, second = "AB"[more], "AB"[less]
    key, other = keys[more], keys[less]
    if writes and rows[0].lower() == rows[1].lower():
        return t(
            "To write {word}, {more} looks more at {key} than {less} at {other}.",
            word=word,
            more=first,
            key=key,
            less=second,
            other=other,
        )
    if writes:
        return t(
            "To write {word}, {more} looks more at {key} than {less} at {other} to write {its}.",
            word=word,
            more=first,
            key=key,
            less=second,
            other=other,
            its=its,
        )
    if rows[0].lower() == rows[1].lower():
        return t(
            "From {word}, {more} looks more at {key} than {less} at {other}.",
            word=word,
            more=first,
            key=key,
            less=second,
            other=other,
        )
    return t(
        "From {word}, {more} looks more at {key} than {less}, from {its}, at {other}.",
        word=word,
        more=first,
        key=key,
        less=second,
        other=other,
        its=its,
    )


def _with_weight(word: str, weight: float, pieces: int, elsewhere: str) -> str:
    """A word in quotation marks and the weight that it gets, that of all its pieces, and what goes elsewhere."""
    number = fixed(weight, 2)
    if pieces > 1:
        number = t("{number} together", number=number)
    if elsewhere:
        return t("{word} ({weight}; {elsewhere})", word=quoted(word), weight=number, elsewhere=elsewhere)
    return t("{word} ({weight})", word=quoted(word), weight=number)


_EXPLAINS = 0.5  # share of a change from which weights of words without a counterpart are said with it


def _elsewhere(a: LabelledMap, b: LabelledMap, pair: Counterparts, side: int) -> str:
    """What the row that gives less gives to words without a counterpart, if that explains half of the change.

    Rows sum to 1, so what goes to a word that only one map has is missing elsewhere. What the other row gives to such
    words is taken off.
    """
    if pair.weights[side] > pair.weights[1 - side]:
        return ""
    lone = [
        sorted(
            ((float(map_.values[row, word.start : word.stop].sum()), name_of(map_, 2, word)) for word in words),
            key=lambda each: -each[0],
        )
        for map_, row, words in zip((a, b), pair.rows, lone_words(a, b, 2), strict=True)
    ]
    named = [each for each in lone[side] if each[0] >= NAMED_FROM][:MOST_NAMED]
    total = sum(weight for weight, _ in named)
    if total - sum(weight for weight, _ in lone[1 - side]) < _EXPLAINS * pair.change:
        return ""
    words, weight, name = listed(quoted(word) for _, word in named), fixed(total, 2), "BA"[side]
    return t("another {weight} goes to {words}, which {map} lacks there", weight=weight, words=words, map=name)


def _word_of(map_: LabelledMap, axis: int, row: int) -> str:
    """The word that a row writes (axis 1) or reads, if it is at the word's first piece; otherwise the piece."""
    words, names = words_along(map_, axis)
    whole = {word.start: name for word, name in zip(words, names, strict=True)}
    return whole.get(row, (map_.rows, map_.predicted)[axis][row])


def compare_rows(trace: AttentionTrace, at: Place, other: int, *, n_prompt: int = 0) -> tuple[LabelledMap, LabelledMap]:
    """Put the row in view above another one (from 1) of its head: two steps, or two positions; then their difference.

    Raises:
        IndexError: there is no such row.
    """
    map_ = head_map(attention_maps(trace, at.kind, n_prompt=n_prompt), at.layer, at.head)
    a, b = single_row(map_, at.row), single_row(map_, other)
    both = replace(
        map_,
        values=np.concatenate([a.values, b.values]),
        mask=np.concatenate([a.mask, b.mask]),
        rows=(f"A: {a.row_labels[0]}", f"B: {b.row_labels[0]}"),
        predicted=a.predicted + b.predicted,
        first_row=0,
    )
    return both, difference(a, b, t("B minus A"))


def counterpart(trace: AttentionTrace, at: Place, *, model: str, title: str, n_prompt: int = 0) -> LabelledMap:
    """Find the counterpart of the head in view in the trace of another model; `title` is put before its own title.

    If the other model has fewer layers or heads, its last layer or head is taken.

    Raises:
        NothingToCompare: the other model has no attention of this kind.
    """
    maps = attention_maps(trace, at.kind, n_prompt=n_prompt)
    if not maps.weights.size:
        raise NothingToCompare("{model} has no {kind_names}.", model=model, kind_names=translated(KIND_NAMES[at.kind]))
    layers, heads = maps.weights.shape[:2]
    nearest = head_map(maps, min(at.layer, layers), min(at.head, heads))
    return replace(nearest, title=f"{title.removesuffix('.')}. {nearest.title}")


def single_row(map_: LabelledMap, row: int) -> LabelledMap:
    """Cut one row (from 1) out of a map, as a map that can be compared with another row.

    Raises:
        IndexError: there is no such row.
    """
    if not 1 <= row <= len(map_.rows):
        raise IndexError(f"This map has {len(map_.rows)} rows; there is no row {row}.")
    cut = slice(row - 1, row)
    return replace(
        map_,
        values=map_.values[cut],
        mask=map_.mask[cut],
        rows=map_.rows[cut],
        predicted=map_.predicted[cut],
        first_row=row,
    )


def with_edit(edits: HeadEdits | None, head: Place, operation: Operation) -> HeadEdits:
    """Add an edit of this head, replacing any earlier edits of it."""
    others = (
        edit for edit in (edits or HeadEdits()).edits if (edit.kind, edit.layer, edit.head) != (head.kind, *head.index)
    )
    return HeadEdits((*others, HeadEdit(head.kind, *head.index, operation)))
