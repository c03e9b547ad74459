"""What is marked in two maps beside each other: words of one alone, and weights that differ."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.labelled_map import encode
from explorer.decoding.labelled_map import LabelledMap, token_map
from explorer.decoding.pair_marks import marked
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.map_picture import picture_of
from explorer.files.picture import Box, Text


def cross(columns: str, predicted: str, *heavy: tuple[int, int]) -> LabelledMap:
    """A map whose rows put 0.9 on one key each."""
    keys, words = tuple(columns.split()), tuple(predicted.split())
    values = np.full((len(words), len(keys)), 0.05, np.float32)
    for row, column in heavy:
        values[row, column] = 0.9
    return token_map("cross", values, ("<sos>", *words[:-1]), keys, "t", predicted=words)


def test_words_are_matched_though_one_sentence_is_longer() -> None:
    a = cross("a red dog .", "ein roter Hund .", (1, 1), (2, 2))
    b = cross("a very red cat .", "eine rote Katze .", (1, 2), (2, 2))
    first, second, words = marked(a, b)
    assert [first.marked_labels[1], second.marked_labels[1]] == [
        ("1 a", "2 red", "≠ 3 dog", "4 ."), ("1 a", "≠ 2 very", "3 red", "≠ 4 cat", "5 ."),
    ]  # fmt: skip
    assert first.marks.rows == second.marks.rows == {0, 1, 2}
    # "Hund" looked at the dog; "Katze" looks at "red", not at the cat.
    assert (first.marks.cells, second.marks.cells) == (((2, 2), (2, 1)), ((2, 3), (2, 2)))
    assert words == "≠ marks what only one of the maps has. Frames mark 2 weights that differ by 0.2 or more."


@pytest.mark.parametrize("least", [0.19, 0.21])
def test_equal_sentences_have_no_signs_and_small_differences_no_frames(least: float) -> None:
    a = cross("a dog", "ein Hund")
    b = cross("a dog", "ein Hund")
    b.values[1, 1] += least
    first, second, words = marked(a, b)
    assert first.marked_labels == (first.row_labels, first.column_labels)
    assert bool(first.marks.cells) == bool(second.marks.cells) == (least > 0.2)
    assert ("Of 4 weights with a counterpart, none differs" in words) == (least < 0.2)


def test_figure_and_picture_have_the_marks() -> None:
    first, second, _ = marked(cross("a dog", "ein Hund", (1, 1)), cross("a cat", "eine Katze"))
    header, _ = wire.read(encode(first, ""))
    assert header["columns"] == ["1 a", "≠ 2 dog"]
    assert header["frames"] == [[1, 1]]
    picture = picture_of(ShownMaps("both", "", (first, second), (), ("", ""), ViewOptions(view="head"), row=0))
    texts = [mark.text for mark in picture.marks if isinstance(mark, Text)]
    assert {"≠ 2 dog", "≠ 2 cat", "both", "t"} <= set(texts)
    frames = [mark for mark in picture.marks if isinstance(mark, Box) and mark.line > 1]
    tiles = [mark for mark in picture.marks if isinstance(mark, Box) and mark.edge == "#9aa5af"]
    assert len(frames) == len(tiles) == 2
    for frame, tile in zip(frames, tiles, strict=True):
        assert tile.x < frame.x < frame.x + frame.width <= tile.x + tile.width + 1e-6, "each in its own map"
