"""Mark what differs between two maps: tokens that only one of them has, and cells with another weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np

from explorer.decoding.labelled_map import SIGN, LabelledMap, PairMarks
from explorer.locale.messages import t
from explorer.locale.text import listed, quoted

DIFFERENT = 0.2  # difference of two weights from which their cells are framed
MOST_NAMED = 4  # rows that have counterparts, from which these are not named
MOST_FRAMED = 40  # cells; of more, those with the largest differences


def marked(a: LabelledMap, b: LabelledMap) -> tuple[LabelledMap, LabelledMap, str]:
    """Mark two maps of weights, and say in a sentence what the marks mean.

    Columns are matched by their tokens, rows of the decoder by those that they predict (Ratcliff and Obershelp 1988,
    `difflib`), so that a word more shifts nothing; as many tokens in place of as many others are their counterparts.
    """
    pairs = counterparts(a, b)
    differing = sorted((pair for pair in pairs if pair[0] >= DIFFERENT), reverse=True)
    framed = differing[:MOST_FRAMED]
    names = ((a.rows, b.rows), (a.predicted, b.predicted), (a.columns, b.columns))
    rows, ends, columns = (_matched(*each)[1] for each in names)
    marks = (
        PairMarks(rows[0], ends[0], columns[0], tuple(cell for _, cell, _ in framed)),
        PairMarks(rows[1], ends[1], columns[1], tuple(cell for _, _, cell in framed)),
    )
    first, second = (replace(map_, marks=mark) for map_, mark in zip((a, b), marks, strict=True))
    words = _few_in_words(a, b) or _uncompared(a, b), _in_words(marks, len(framed), len(differing), len(pairs))
    return first, second, " ".join(filter(None, words))


def counterparts(a: LabelledMap, b: LabelledMap) -> list[tuple[float, tuple[int, int], tuple[int, int]]]:
    """The cells of two maps that can be compared, in pairs, each with the size of its difference."""
    seen, other = a.seen(), b.seen()
    return [
        (abs(float(other[j, m] - seen[i, k])), (i, k), (j, m))
        for i, j in _matched_rows(a, b)
        for k, m in _matched(a.columns, b.columns)[0]
        if not np.isnan(other[j, m] - seen[i, k])
    ]


def _row_names(a: LabelledMap, b: LabelledMap) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What rows are matched by."""
    return (a.predicted, b.predicted) if a.predicted and b.predicted else (a.rows, b.rows)


def _matched_rows(a: LabelledMap, b: LabelledMap) -> list[tuple[int, int]]:
    return _matched(*_row_names(a, b))[0]


def _uncompared(a: LabelledMap, b: LabelledMap) -> str:
    """Name the rows that have no counterpart: other rows stand in their place, but not as many, or none."""
    names = _row_names(a, b)
    pairs = _matched(*names)[0]
    without = [
        listed(quoted(name) for at, name in enumerate(side) if at not in {pair[i] for pair in pairs})
        for i, side in enumerate(names)
    ]
    in_a, in_b = t("{words} in A", words=without[0]), t("{words} in B", words=without[1])
    rows = listed(named for named, words in zip((in_a, in_b), without, strict=True) if words)
    if not rows:
        return ""
    if names[0] is a.predicted:
        return t("Not compared, because they have no counterparts: the rows that write {rows}.", rows=rows)
    return t("Not compared, because they have no counterparts: the rows of {rows}.", rows=rows)


def _matched(
    names: Sequence[str], others: Sequence[str]
) -> tuple[list[tuple[int, int]], tuple[frozenset[int], frozenset[int]]]:
    """Pairs of counterparts, and on either side the names that the other side does not have there."""
    pairs: list[tuple[int, int]] = []
    only: tuple[set[int], set[int]] = (set(), set())
    for step, a, b, c, d in SequenceMatcher(None, names, others, autojunk=False).get_opcodes():
        if b - a == d - c:
            pairs += zip(range(a, b), range(c, d), strict=True)
        if step != "equal":
            only[0].update(range(a, b))
            only[1].update(range(c, d))
    return pairs, (frozenset(only[0]), frozenset(only[1]))


def _few_in_words(a: LabelledMap, b: LabelledMap) -> str:
    """Name the rows that have counterparts, if these are few."""
    rows = _matched_rows(a, b)
    if len(rows) > min(MOST_NAMED, len(a.rows) // 2, len(b.rows) // 2):
        return ""
    if not rows:
        return t("No row has a counterpart to be compared with.")
    if a.predicted and b.predicted:
        words = listed(quoted(a.predicted[i]) for i, _ in rows)
        return t("Few words in common: only the rows that write {rows} can be compared.", rows=words)
    words = listed(quoted(a.rows[i]) for i, _ in rows)
    return t("Few words in common: only the rows of {rows} can be compared.", rows=words)


def _in_words(marks: tuple[PairMarks, PairMarks], framed: int, differing: int, compared: int) -> str:
    sentences = []
    if any(each.rows or each.ends or each.columns for each in marks):
        sentences.append(t("{sign} marks words that differ.", sign=SIGN))
    if compared and not differing:
        sentences.append(
            t(
                "Of {n} weight compared, none differs by {least:g} or more.",
                "Of {n:,} weights compared, none differs by {least:g} or more.",
                n=compared,
                least=DIFFERENT,
            )
        )
    elif framed < differing:
        sentences.append(
            t(
                "Frames mark the {n} largest of {all} that differ by {least:g} or more.",
                n=framed,
                all=t("{n} weight", "{n:,} weights", n=differing),
                least=DIFFERENT,
            )
        )
    elif differing:
        sentences.append(
            t(
                "Frames mark {n} weight that differs by {least:g} or more.",
                "Frames mark {n:,} weights that differ by {least:g} or more.",
                n=differing,
                least=DIFFERENT,
            )
        )
    return " ".join(sentences)
