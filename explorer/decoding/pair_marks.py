"""Mark what differs between two maps: tokens that only one of them has, and cells with another weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import NO_PIECES, merge
from explorer.decoding.labelled_map import SIGN, LabelledMap, PairMarks, Twins, difference
from explorer.decoding.word_changes import cut_words
from explorer.locale.messages import t
from explorer.locale.text import listed, quoted
from model.trace import VISIBLE

DIFFERENT = 0.2  # difference of two weights from which their cells are framed
MOST_NAMED = 4  # words in a sentence
NAMED_FROM = 0.01  # difference from which two weights are not the same in two decimals
_PEAK = 2  # largest weight of a row, from which it is not spread out, as a multiple of equal weights
_LEADS = 0.1  # by how much a row looks more at one word than at any other, for it to be paired by that word

Matched = tuple[list[tuple[int, int]], tuple[frozenset[int], frozenset[int]]]
Words = list[range]
"""The words along an axis, each as the places of its pieces."""


@dataclass(frozen=True)
class Counterparts:
    """A row and a word among the keys (the places of its pieces) in two maps, and the weight that the word gets."""

    rows: tuple[int, int]
    words: tuple[range, range]
    weights: tuple[float, float]

    @property
    def change(self) -> float:
        """By how much the weights differ."""
        return abs(self.weights[1] - self.weights[0])

    def cells(self, side: int) -> list[tuple[int, int]]:
        """The cells in one of the maps."""
        return [(self.rows[side], at) for at in self.words[side]]


def marked(a: LabelledMap, b: LabelledMap) -> tuple[LabelledMap, LabelledMap, str, str]:
    """Mark two maps of weights, and say what the marks mean, and what is compared.

    Columns are matched by their words, rows of the decoder by those that they predict.
    """
    pairs = counterparts(a, b)
    differing = [pair for pair in pairs if pair.change >= DIFFERENT]
    framed = differing or pairs[: int(worth_naming(pairs))]
    only = [_matched(a, b, axis)[1] for axis in range(3)]
    maps = [
        replace(
            map_,
            marks=PairMarks(
                only[0][side],
                only[1][side],
                only[2][side],
                tuple(cell for pair in framed for cell in pair.cells(side)),
                _twins(a, b)[side],
            ),
        )
        for side, map_ in enumerate((a, b))
    ]
    legend = _in_words((maps[0].marks, maps[1].marks), len(framed), len(differing), len(pairs))
    words = _uncompared(a, b), _pairs_in_words(a, b)
    return maps[0], maps[1], legend, " ".join(filter(None, words))


def words_along(map_: LabelledMap, axis: int) -> tuple[Words, list[str]]:
    """The words of the rows (axis 0), of what they predict (1), or of the columns (2): their pieces, their names.

    If all pieces are single characters, each is a word.
    """
    names, continued = (map_.rows, map_.predicted, map_.columns)[axis], map_.continued[axis]
    if all(max(len(names[at]), len(names[at - 1])) < 2 for at in continued if at):
        continued = frozenset()
    starts = [at for at in range(len(names)) if not at or at not in continued]
    words = [range(*each) for each in pairwise([*starts, len(names)])]
    return words, [name_of(map_, axis, word) for word in words]


def _matched(
    a: LabelledMap, b: LabelledMap, axis: int
) -> tuple[list[tuple[range, range]], tuple[frozenset[int], frozenset[int]]]:
    """Match the words along an axis; also the places of those on either side that differ."""
    (words, names), (others, its) = (words_along(map_, axis) for map_ in (a, b))
    pairs, only = matched(names, its)
    first, second = (
        frozenset(at for word in own for at in each[word]) for each, own in zip((words, others), only, strict=True)
    )
    found = [(words[i], others[j]) for i, j in pairs]
    by_key = _matched_by_key(a, b, words, others, pairs) if axis == row_axis(a, b) else []
    return sorted([*found, *by_key], key=lambda pair: pair[0].start), (first, second)


def _matched_by_key(
    a: LabelledMap, b: LabelledMap, words: Words, others: Words, pairs: Sequence[tuple[int, int]]
) -> list[tuple[range, range]]:
    """Match the words of rows that have no counterpart by their names: in order, if they look most at the same word."""
    lone = [
        [word for at, word in enumerate(own) if at not in {pair[side] for pair in pairs}]
        for side, own in enumerate((words, others))
    ]
    if not all(lone):
        return []
    of_key = [{pair[side].start: pair[0].start for pair in _matched(a, b, 2)[0]} for side in (0, 1)]
    keys: list[list[int]] = []
    for side, map_ in enumerate((a, b)):
        sums = _by_word(map_)
        leading = [_leading(sums[word.start], map_.seen()[word.start]) for word in lone[side]]
        # A row that looks at no word that both maps have is like no other.
        keys.append([of_key[side].get(key, -len(keys) - 1) for key in leading])
    blocks = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks()
    return [(lone[0][i + n], lone[1][j + n]) for i, j, size in blocks for n in range(size)]


def _leading(weights: dict[int, float], pieces: NDArray[np.float64]) -> int:
    """The word that a row looks at clearly more than at any other, by the place of its first piece; -1 if none.

    Of a row that is spread out, a word in many pieces would lead.
    """
    if not weights or np.nanmax(pieces) < _PEAK / len(pieces):
        return -1
    first, second = (*sorted(weights, key=lambda at: -weights[at])[:2], -1, -1)[:2]
    return first if weights.get(first, 0) - weights.get(second, 0) >= _LEADS else -1


def counterparts(a: LabelledMap, b: LabelledMap) -> list[Counterparts]:
    """The weights of two maps that can be compared, in pairs, those that differ most first.

    A key is a whole word: the weights of its pieces are added up.
    """
    keys = _matched(a, b, 2)[0]
    seen, other = (_by_word(map_) for map_ in (a, b))
    pairs = [
        Counterparts((i, j), (k, m), (seen[i][k.start], other[j][m.start]))
        for i, j in matched_rows(a, b)
        for k, m in keys
        if k.start in seen[i] and m.start in other[j]
    ]
    return sorted(pairs, key=lambda pair: -pair.change)


def _by_word(map_: LabelledMap) -> list[dict[int, float]]:
    """The weight of each word among the keys that a row sees, by the place of the word's first piece, for each row."""
    rows, words = len(map_.rows), words_along(map_, 2)[0]
    spans = tuple((word.start, word.stop) for word in words)
    sums, codes = merge(map_.values, map_.mask, tuple((i, i + 1) for i in range(rows)), spans)
    return [
        {word.start: float(sums[i, k]) for k, word in enumerate(words) if codes[i, k] == VISIBLE} for i in range(rows)
    ]


def worth_naming(pairs: Sequence[Counterparts]) -> bool:
    """Whether the first pair differs in the decimals that a sentence gives."""
    return bool(pairs) and pairs[0].change >= NAMED_FROM


def subtracted(a: LabelledMap, b: LabelledMap) -> LabelledMap | None:
    """B minus A, where rows and columns have counterparts, in the order of A; None if none have.

    A column is a piece of a word, or a whole word if its counterpart has not as many pieces.
    """
    rows, columns = matched_rows(a, b), [pair for words in _matched(a, b, 2)[0] for pair in _subtracted_pieces(*words)]
    if not rows or not columns:
        return None
    first = _cut(a, [i for i, _ in rows], [word for word, _ in columns])
    second = _cut(b, [j for _, j in rows], [word for _, word in columns])
    positions = tuple((i + 1, j + 1) for i, j in rows), tuple((k.start + 1, m.start + 1) for k, m in columns)
    return replace(difference(first, second, t("B minus A")), positions=positions)


def _subtracted_pieces(one: range, other: range) -> list[tuple[range, range]]:
    if len(one) != len(other):
        return [(one, other)]
    return [(range(i, i + 1), range(j, j + 1)) for i, j in zip(one, other, strict=True)]


def _cut(map_: LabelledMap, rows: list[int], columns: list[range]) -> LabelledMap:
    """These rows of a map, and these columns, each the sum of some that stand side by side."""
    values = [map_.values[rows, word.start : word.stop].sum(axis=1, dtype=np.float64) for word in columns]
    codes = [map_.mask[rows, word.start : word.stop].min(axis=1) for word in columns]
    return replace(
        map_,
        values=np.stack(values, axis=1).astype(np.float32),
        mask=np.stack(codes, axis=1),
        rows=tuple(map_.rows[at] for at in rows),
        predicted=tuple(map_.predicted[at] for at in rows if map_.predicted),
        columns=tuple(name_of(map_, 2, word) for word in columns),
        continued=NO_PIECES,
    )


def marks_of_difference(minus: LabelledMap, marks: PairMarks) -> PairMarks:
    """The marks of A, in the map that `subtracted` made of it."""
    rows, columns = ([at - 1 for at, _ in each] for each in minus.positions or ((), ()))
    return PairMarks(
        frozenset(i for i, at in enumerate(rows) if at in marks.rows),
        frozenset(i for i, at in enumerate(rows) if at in marks.ends),
        frozenset(i for i, at in enumerate(columns) if at in marks.columns),
        tuple((rows.index(row), columns.index(key)) for row, key in marks.cells if key in columns),
        (rows, columns),
    )


def lone_words(a: LabelledMap, b: LabelledMap, axis: int) -> tuple[list[range], list[range]]:
    """The words along an axis that have no counterpart in the other map: others stand in their place, or none."""
    pairs = _matched(a, b, axis)[0]
    first, second = (
        [word for word in words_along(map_, axis)[0] if word not in [pair[side] for pair in pairs]]
        for side, map_ in enumerate((a, b))
    )
    return first, second


def row_axis(a: LabelledMap, b: LabelledMap) -> int:
    """What rows are matched by: what they predict, if both maps have it."""
    return 1 if a.predicted and b.predicted else 0


def matched_rows(a: LabelledMap, b: LabelledMap) -> list[tuple[int, int]]:
    """The rows of two maps that can be compared, in pairs: piece by piece, or by the first pieces of a word."""
    return [pair for words in _matched(a, b, row_axis(a, b))[0] for pair in _piecewise(*words)]


def _piecewise(one: range, other: range) -> list[tuple[int, int]]:
    """The pieces of two words in pairs, or the first ones if these are not as many."""
    return list(zip(one, other, strict=True)) if len(one) == len(other) else [(one.start, other.start)]


def _twins(a: LabelledMap, b: LabelledMap) -> tuple[Twins, Twins]:
    """For the rows and the columns of both maps: the place in A of each one's counterpart, -1 without one.

    All pieces of a key have the place of the first, if its counterpart has not as many.
    """
    own = (list(range(len(a.rows))), list(range(len(a.columns))))
    its = ([-1] * len(b.rows), [-1] * len(b.columns))
    for i, j in matched_rows(a, b):
        its[0][j] = i
    for k, m in _matched(a, b, 2)[0]:
        for at in k:
            own[1][at] = at if len(k) == len(m) else k.start
        for nth, at in enumerate(m):
            its[1][at] = k[nth] if len(k) == len(m) else k.start
    return own, its


def _uncompared(a: LabelledMap, b: LabelledMap) -> str:
    """Name the words whose rows or columns have no counterpart."""
    parts = [
        _lines_in_words(name, map_, axis, own)
        for axis in (row_axis(a, b), 2)
        for name, map_, own in zip("AB", (a, b), lone_words(a, b, axis), strict=True)
        if own
    ]
    if not parts:
        return ""
    return t("No single counterpart, so neither compared nor in B − A: {parts}.", parts="; ".join(parts))


def _lines_in_words(name: str, map_: LabelledMap, axis: int, own: Sequence[range]) -> str:
    words = listed(quoted(name_of(map_, axis, word)) for word in own)
    if axis == 2:
        return t("the column {words} of {map}", "the columns {words} of {map}", n=len(own), words=words, map=name)
    if axis:
        return t(
            "the row of {map} that writes {words}",
            "the rows of {map} that write {words}",
            n=len(own),
            words=words,
            map=name,
        )
    return t("the row {words} of {map}", "the rows {words} of {map}", n=len(own), words=words, map=name)


def name_of(map_: LabelledMap, axis: int, word: range) -> str:
    """A word along an axis as its pieces spell it."""
    return "".join((map_.rows, map_.predicted, map_.columns)[axis][word.start : word.stop])


def _pairs_in_words(a: LabelledMap, b: LabelledMap) -> str:
    """Say how rows are compared whose words differ in their numbers of pieces, or in their names."""
    sentences = []
    rows = _matched(a, b, row_axis(a, b))[0]
    if any(len(one) != len(other) for one, other in rows):
        sentences.append(t("Words with unequal numbers of pieces are compared by the rows of their first pieces."))
    words = [words_along(map_, row_axis(a, b))[1] for map_ in (a, b)]
    if len(rows) > len(matched(*words)[0]):
        sentences.append(t("Words that differ are paired where they look most at the same word."))
    return " ".join(sentences)


def matched(names: Sequence[str], others: Sequence[str]) -> Matched:
    """Pairs of counterparts, and on either side the names that are not paired with the same name, whatever its case.

    Names are paired in order (Ratcliff and Obershelp 1988, `difflib`), so that a word more shifts nothing. Of the rest,
    a name that occurs once on either side has moved, with its neighbours if these are the same (Heckel 1978); as many
    names in place of as many others are their counterparts; then equal names are paired, the first with the first.
    """
    sides = [name.lower() for name in names], [name.lower() for name in others]
    same: dict[int, int] = {}
    replaced: dict[int, int] = {}
    for step, a, b, c, d in SequenceMatcher(None, sides[0], sides[1], autojunk=False).get_opcodes():
        if step == "equal":
            same.update(zip(range(a, b), range(c, d), strict=True))
        elif b - a == d - c:
            replaced.update(zip(range(a, b), range(c, d), strict=True))

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


def _in_words(marks: tuple[PairMarks, PairMarks], framed: int, differing: int, compared: int) -> str:
    sentences = []
    if any(each.rows or each.ends or each.columns for each in marks):
        sentences.append(t("{sign} marks words that differ or are missing.", sign=SIGN))
    if compared and not differing:
        sentences.append(
            t(
                "Of {n} weight with a counterpart, none differs by {least:g} or more.",
                "Of {n:,} weights with a counterpart, none differs by {least:g} or more.",
                n=compared,
                least=DIFFERENT,
            )
        )
        if framed:
            sentences.append(t("The largest difference is framed."))
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
