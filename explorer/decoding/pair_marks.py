"""Mark what differs between two maps: tokens that only one of them has, and cells with another weight."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np

from explorer.decoding.labelled_map import SIGN, LabelledMap, PairMarks
from explorer.decoding.word_changes import cut_words
from explorer.locale.messages import t
from explorer.locale.text import listed, quoted

DIFFERENT = 0.2  # difference of two weights from which their cells are framed
MOST_NAMED = 4  # rows that have counterparts, from which these are not named
MOST_FRAMED = 40  # cells; of more, those with the largest differences
_NAMED_FROM = 0.001  # difference from which two weights are not the same in three decimals

Pair = tuple[float, tuple[int, int], tuple[int, int]]
"""Two cells (row, column) that are counterparts, after the size of their difference."""
Matched = tuple[list[tuple[int, int]], tuple[frozenset[int], frozenset[int]]]
Continued = tuple[frozenset[int], frozenset[int]]
"""The names on either side that continue the word of the one before."""


def marked(a: LabelledMap, b: LabelledMap) -> tuple[LabelledMap, LabelledMap, str]:
    """Mark two maps of weights, and say in a sentence what the marks mean.

    Columns are matched by their tokens, rows of the decoder by those that they predict.
    """
    pairs = counterparts(a, b)
    differing = [pair for pair in pairs if pair[0] >= DIFFERENT]
    framed = differing[:MOST_FRAMED] or pairs[: int(worth_naming(pairs))]
    rows, ends, columns = (_matched(a, b, axis)[1] for axis in range(3))
    marks = (
        PairMarks(rows[0], ends[0], columns[0], tuple(cell for _, cell, _ in framed)),
        PairMarks(rows[1], ends[1], columns[1], tuple(cell for _, _, cell in framed)),
    )
    first, second = (replace(map_, marks=mark) for map_, mark in zip((a, b), marks, strict=True))
    words = (
        _few_in_words(a, b) or _uncompared(a, b),
        _by_first_pieces(a, b),
        _in_words(marks, len(framed), len(differing), len(pairs)),
    )
    return first, second, " ".join(filter(None, words))


def _names(map_: LabelledMap) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    return map_.rows, map_.predicted, map_.columns


def _matched(a: LabelledMap, b: LabelledMap, axis: int) -> Matched:
    """Match the rows (axis 0), what they predict (1), or the columns (2) of two maps."""
    return matched(_names(a)[axis], _names(b)[axis], (a.continued[axis], b.continued[axis]))


def counterparts(a: LabelledMap, b: LabelledMap) -> list[Pair]:
    """The cells of two maps that can be compared, in pairs, those that differ most first."""
    seen, other = a.seen(), b.seen()
    columns = _matched(a, b, 2)[0]
    pairs = [
        (abs(float(other[j, m] - seen[i, k])), (i, k), (j, m))
        for i, j in matched_rows(a, b)
        for k, m in columns
        if not np.isnan(other[j, m] - seen[i, k])
    ]
    return sorted(pairs, key=lambda pair: -pair[0])


def worth_naming(pairs: Sequence[Pair]) -> bool:
    """Whether the first pair differs in the decimals that a sentence gives."""
    return bool(pairs) and pairs[0][0] >= _NAMED_FROM


def in_line(a: LabelledMap, b: LabelledMap) -> bool:
    """Whether counterparts stand in the same places, so that one map can be subtracted from the other."""
    pairs = matched_rows(a, b) + _matched(a, b, 2)[0]
    return a.values.shape == b.values.shape and all(i == j for i, j in pairs)


def _row_axis(a: LabelledMap, b: LabelledMap) -> int:
    """What rows are matched by: what they predict, if both maps have it."""
    return 1 if a.predicted and b.predicted else 0


def matched_rows(a: LabelledMap, b: LabelledMap) -> list[tuple[int, int]]:
    """The rows of two maps that can be compared, in pairs."""
    return _matched(a, b, _row_axis(a, b))[0]


def _uncompared(a: LabelledMap, b: LabelledMap) -> str:
    """Name the rows that have no counterpart: other rows stand in their place, but not as many, or none.

    A piece is not named if the first one of its word has a counterpart.
    """
    axis = _row_axis(a, b)
    pairs = matched_rows(a, b)
    without = []
    for i, each in enumerate((a, b)):
        compared = {pair[i] for pair in pairs}
        left = (at for at in range(len(each.rows)) if at not in compared)
        named = (at for at in left if _first_piece(at, each.continued[axis]) not in compared)
        without.append(listed(quoted(_names(each)[axis][at]) for at in named))
    in_a, in_b = t("{words} in A", words=without[0]), t("{words} in B", words=without[1])
    rows = listed(named for named, words in zip((in_a, in_b), without, strict=True) if words)
    if not rows:
        return ""
    if axis:
        return t("Not compared, because they have no single counterpart: the rows that write {rows}.", rows=rows)
    return t("Not compared, because they have no single counterpart: the rows of {rows}.", rows=rows)


def _first_piece(at: int, continued: Set[int]) -> int:
    """The place of the first piece of a word."""
    while at in continued:
        at -= 1
    return at


def _by_first_pieces(a: LabelledMap, b: LabelledMap) -> str:
    """Name the words that are compared by their first pieces, because one has more of them than the other."""
    words = []
    for axis in dict.fromkeys((_row_axis(a, b), 2)):
        pieces = [_in_pieces(_names(each)[axis], each.continued[axis]) for each in (a, b)]
        both = [(pieces[0].get(i, []), pieces[1].get(j, [])) for i, j in _matched(a, b, axis)[0]]
        words += [("".join(one), "".join(other)) for one, other in both if one and other and len(one) != len(other)]
    pairs = listed(t("{a} with {b}", a=quoted(one), b=quoted(other)) for one, other in dict.fromkeys(words))
    return t("Compared by the first piece of each word: {pairs}.", pairs=pairs) if pairs else ""


def _in_pieces(names: Sequence[str], continued: Set[int]) -> dict[int, list[str]]:
    """The pieces of each word, by the place of the first one."""
    pieces: dict[int, list[str]] = {}
    for at, name in enumerate(names):
        pieces.setdefault(_first_piece(at, continued), []).append(name)
    return pieces


def _in_place(a: range, b: range, continued: Continued) -> list[tuple[int, int]]:
    """Pair the words of two stretches if they are as many, by piece, or by the first one if these are not as many."""
    pairs: list[tuple[int, int]] = []
    words: list[list[range]] = []
    for side, inner in zip((a, b), continued, strict=True):
        starts = [at for at in side if at == side.start or at not in inner]
        words.append([range(*each) for each in pairwise([*starts, side.stop])])
    rests = [bool(each) and each[0].start in inner for each, inner in zip(words, continued, strict=True)]
    if any(rests):  # of words whose first pieces stand before the stretches
        ends = [each.pop(0) if is_rest else range(0) for each, is_rest in zip(words, rests, strict=True)]
        pairs += zip(*ends, strict=True) if len(ends[0]) == len(ends[1]) else []
    if len(words[0]) == len(words[1]):
        for one, other in zip(*words, strict=True):
            pairs += zip(one, other, strict=True) if len(one) == len(other) else [(one.start, other.start)]
    return pairs


def matched(names: Sequence[str], others: Sequence[str], continued: Continued = (frozenset(), frozenset())) -> Matched:
    """Pairs of counterparts, and on either side the names that are not paired with the same name, whatever its case.

    Names are paired in order (Ratcliff and Obershelp 1988, `difflib`), so that a word more shifts nothing. Of the rest,
    a name that occurs once on either side has moved, with its neighbours if these are the same (Heckel 1978); as many
    words in place of as many others are their counterparts; then equal names are paired, the first with the first. A
    word is one name, and those after it that are `continued`.
    """
    sides = [name.lower() for name in names], [name.lower() for name in others]
    same: dict[int, int] = {}
    replaced: dict[int, int] = {}
    for step, a, b, c, d in SequenceMatcher(None, sides[0], sides[1], autojunk=False).get_opcodes():
        if step == "equal":
            same.update(zip(range(a, b), range(c, d), strict=True))
        else:
            replaced.update(_in_place(range(a, b), range(c, d), continued))

    def pair(i: int, j: int) -> bool:
        """Pair two places if both are left over and have the same name."""
        is_there = i in range(len(names)) and j in range(len(others))
        is_free = is_there and sides[0][i] == sides[1][j] and i not in same and j not in same.values()
        if is_free:
            same[i] = j
        return is_free

    for i, name in enumerate(sides[0]):
        if sides[0].count(name) == sides[1].count(name) == 1 and pair(i, j := sides[1].index(name)):
            for way in (-1, 1):
                by = way
                while pair(i + by, j + by):
                    by += way
    replaced = {i: j for i, j in replaced.items() if i not in same and j not in same.values()}
    for i in range(len(names)):
        for j in range(len(others)):
            if i not in replaced and j not in replaced.values():
                pair(i, j)
    only = (frozenset(range(len(names))) - set(same), frozenset(range(len(others))) - set(same.values()))
    return sorted((same | replaced).items()), only


def own_words(text: str, other: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """The words of two texts with the space after them, and whether only that text has the word, wherever it stands."""
    words = cut_words(text), cut_words(other)
    bare = [[word.rstrip() for word in side] for side in words]
    _, only = matched(bare[0], bare[1])
    first, second = ([(word, at in own) for at, word in enumerate(side)] for side, own in zip(words, only, strict=True))
    return first, second


def _few_in_words(a: LabelledMap, b: LabelledMap) -> str:
    """Name the rows that have counterparts, if these are few."""
    rows = matched_rows(a, b)
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
        if framed:
            sentences.append(t("The frame marks the largest difference."))
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
                "The frame marks the one weight that differs by {least:g} or more.",
                "Frames mark {n:,} weights that differ by {least:g} or more.",
                n=differing,
                least=DIFFERENT,
            )
        )
    return " ".join(sentences)
