"""Mark what differs between two maps: tokens that only one of them has, and cells with another weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np

from explorer.decoding.labelled_map import SIGN, LabelledMap, PairMarks
from explorer.locale.messages import t

DIFFERENT = 0.2  # difference of two weights from which their cells are framed
MOST_FRAMED = 40  # cells; of more, those with the largest differences


def marked(a: LabelledMap, b: LabelledMap) -> tuple[LabelledMap, LabelledMap, str]:
    """Mark two maps of weights, and say in a sentence what the marks mean.

    Columns are matched by their tokens, rows of the decoder by those that they predict (Ratcliff and Obershelp 1988,
    `difflib`), so that a word more shifts nothing; as many tokens in place of as many others are their counterparts.
    """
    read, only_rows = _matched(a.rows, b.rows)
    written, only_ends = _matched(a.predicted, b.predicted)
    rows = written if a.predicted and b.predicted else read
    columns, only_columns = _matched(a.columns, b.columns)
    seen, other = a.seen(), b.seen()
    pairs = [
        (abs(float(other[j, m] - seen[i, k])), (i, k), (j, m))
        for i, j in rows
        for k, m in columns
        if not np.isnan(other[j, m] - seen[i, k])
    ]
    differing = sorted((pair for pair in pairs if pair[0] >= DIFFERENT), reverse=True)
    framed = differing[:MOST_FRAMED]
    marks = (
        PairMarks(only_rows[0], only_ends[0], only_columns[0], tuple(cell for _, cell, _ in framed)),
        PairMarks(only_rows[1], only_ends[1], only_columns[1], tuple(cell for _, _, cell in framed)),
    )
    first, second = (replace(map_, marks=mark) for map_, mark in zip((a, b), marks, strict=True))
    return first, second, _in_words(marks, len(framed), len(differing), len(pairs))


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


def _in_words(marks: tuple[PairMarks, PairMarks], framed: int, differing: int, compared: int) -> str:
    sentences = []
    if any(each.rows or each.ends or each.columns for each in marks):
        sentences.append(t("{sign} marks words that differ.", sign=SIGN))
    if not differing:
        sentences.append(
            t(
                "Of {n} weight that both maps have, none differs by {least:g} or more.",
                "Of {n:,} weights that both maps have, none differs by {least:g} or more.",
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
    else:
        sentences.append(
            t(
                "Frames mark {n} weight that differ by {least:g} or more.",
                "Frames mark {n:,} weights that differ by {least:g} or more.",
                n=differing,
                least=DIFFERENT,
            )
        )
    return " ".join(sentences)
