"""A single map, its figure, caption and table, and two maps side by side agree with the planted numbers."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.labelled_map import encode
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import (
    compare,
    compare_rows,
    pair_in_words,
    single_row,
)
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import (
    LabelledMap,
    difference,
    head_map,
    labelled,
    map_caption,
    map_table,
    token_map,
)
from explorer.decoding.pair_marks import marked
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.map_picture import picture_of
from explorer.files.picture import Box, Text
from model.config import AttentionKind
from tests.explorer.planted import planted_trace


def planted(kind: AttentionKind = "cross", layer: int = 1, head: int = 1, tokens: tuple[str, ...] = ()) -> LabelledMap:
    trace = planted_trace(tokens) if tokens else planted_trace()
    return head_map(attention_maps(trace, kind), layer, head)


def test_a_row_of_three_maps_names_in_each_what_rows_write_and_what_differs() -> None:
    a, b = planted(head=1), planted(head=2, tokens=("i", "read", "blue", "books", "<eos>"))
    found = compare(a, b)
    assert found.difference
    maps = [found.first, found.second, found.difference]
    own, *others = wire.read(encode(found.difference, "", grid=maps))[0]["grid"]
    assert own == others[2]
    written = [f"→ {token}" for token in a.predicted]
    assert [each[1] for each in others] == [written, [""] * 5, []], "B writes the same; its rows are in line"
    assert others[0][0] == list(a.row_labels)
    assert others[1][0] == ["1", "2", "3", "4", "5"]
    has_number = abs(found.difference.values) >= 0.05
    rows, columns = found.difference.marked_labels
    assert own[0] == [rows[i] if has_number[i].any() else f"{i + 1}" for i in range(5)]
    names = [columns[i] if has_number[:, i].any() else f"{'≠ ' * (i == 2)}{i + 1}" for i in range(5)]
    assert [name.replace("\n", " ").replace("  ", " ") for name in own[2]] == names
    two = wire.read(encode(a, "", grid=[a, b]))[0]["grid"]
    assert two[2][:3] == [list(b.row_labels), written, list(b.column_labels)], "two have room for all names"
    inner = [dataclasses.replace(each, predicted=()) for each in maps]
    inner[1] = dataclasses.replace(inner[1], marks=dataclasses.replace(inner[1].marks, rows=frozenset({4})))
    labels = wire.read(encode(inner[1], "", grid=inner))[0]["grid"][0][0]
    assert labels == ["1", "2", "3", "4", f"≠ {inner[1].row_labels[4]}"], "rows that write nothing"


def test_rows_that_differ_are_named_in_all_three_maps() -> None:
    a, b = cross("a dog", "der Hund rennt", (1, 1)), cross("a cat", "die Katze rennt")
    found = compare(a, b)
    assert found.difference
    maps = [found.first, found.second, found.difference]
    names = wire.read(encode(a, "", grid=[a, *maps[1:]]))[0]["grid"]
    assert [each[0] for each in names[2:]] == [
        ["1", "≠ 2 die", "≠ 3 Katze"],
        ["1", "≠ 2 der /\ndie", "≠ 3 Hund /\nKatze"],
    ]
    assert names[2][1] == ["→ ≠ die", "→ ≠ Katze", ""]
    assert names[3][1] == []
    moved = compare(a, cross("a dog", "rennt der Hund"))
    assert moved.difference
    names = wire.read(encode(a, "", grid=[a, moved.second, moved.difference]))[0]["grid"]
    assert names[3][1] == ["→ der", "→ Hund", "→ rennt"], "the rows beside it are others"
    assert names[2][0] == ["1 <sos>", "≠ 2 rennt", "3 der"]
    assert names[3][0] == ["1/2", "2/3", "3/1"], "positions in A and in B"
    maps = [planted("encoder"), planted("encoder", tokens=("i", "books", "<eos>"))]
    shorter = compare(*maps)
    assert shorter.difference
    names = wire.read(encode(maps[0], "", grid=[maps[0], shorter.second, shorter.difference]))[0]["grid"]
    assert names[2][0] == ["1 i", "2 books", "3 <eos>"], "a number would be that of another word in A"
    assert names[3][0] == ["1 i", "4/2 books", "5/3 <eos>"]


def test_head_0_is_the_mean_and_others_must_exist() -> None:
    mean = planted("encoder", 2, 0)
    both = [planted("encoder", 2, head).values for head in (1, 2)]
    np.testing.assert_array_equal(mean.values, (both[0] + both[1]) / 2)
    assert mean.title == "Encoder self-attention, layer 2, mean over its heads"
    for layer, head in ((0, 1), (3, 1), (1, 3), (1, -1)):
        with pytest.raises(IndexError, match="no layer"):
            planted("encoder", layer, head)


def test_masked_cells_have_no_number_anywhere() -> None:
    shown = planted("decoder")
    assert "15 of 25 cells are open; closed: 10 in the future ╱." in map_caption(shown)
    assert map_table(shown)[0]["2 je"] is None
    hidden = dataclasses.replace(shown, values=np.where(shown.mask != 0, np.inf, shown.values).astype(np.float32))
    _, arrays = sent(hidden)
    np.testing.assert_array_equal(arrays["mask"], shown.mask)
    assert not arrays["values"][shown.mask != 0].any()
    with pytest.raises(ValueError, match="not a number"):
        sent(dataclasses.replace(hidden, mask=np.zeros_like(shown.mask)))


def sent(shown: LabelledMap, caption: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    return wire.read(encode(shown, caption))


def test_a_difference_is_b_minus_a_and_needs_equal_sizes() -> None:
    one, other = planted(head=1), planted(head=2)
    both = compare(one, other).difference
    assert both is not None
    np.testing.assert_array_equal(both.values, other.values - one.values)
    assert (both.signed, both.scale) == (True, 1.0)
    assert map_caption(both) == "The largest difference of weight is −1.000, where “1 <sos>” looks at “1 i”."
    assert (sent(both)[0]["signed"], sent(both)[0]["top"]) == (True, 1)
    assert map_caption(difference(one, one, "")) == "Both maps are equal in every cell."
    cars = planted(tokens=("i", "read", "blue", "cars", "<eos>"))
    of_cars = compare(one, cars)
    assert of_cars.legend.startswith("≠ marks words that differ or are missing. ")
    assert of_cars.difference is not None
    assert of_cars.difference.column_labels == ("1 i", "2 read", "3 red / blue", "4 books / cars", "5 <eos>")
    assert of_cars.difference.marked_labels[1] == ("1 i", "2 read", "≠ 3 red / blue", "≠ 4 books / cars", "5 <eos>")
    assert of_cars.difference.marked_labels[0] == one.row_labels, "these words are the same"
    assert [sent(each)[0]["least"] for each in (both, one)] == [0.05, 0]
    few = compare(planted("encoder"), planted("encoder", tokens=("a", "b", "<eos>")))
    assert few.difference is not None
    assert few.difference.values.tolist() == [[few.second.values[2, 2] - few.first.values[4, 4]]]
    assert few.caption.startswith("No single counterpart, so neither compared nor in B − A: the rows “i”, “read”")


def test_a_free_scale_ends_at_the_largest_visible_number() -> None:
    maps = attention_maps(planted_trace(), "decoder")
    values = np.full((5, 5), 0.5, np.float32)
    values[0, 4] = 9  # masked, so it does not count
    assert labelled(maps, values, "norms", unit="length", top=None).scale == 0.5
    assert labelled(maps, np.zeros((5, 5), np.float32), "nothing", top=None).scale == 1.0
    blind = LabelledMap("t", values, np.ones((5, 5), np.uint8), maps.rows, maps.columns, "r", "c")
    assert map_caption(blind) == "Every cell of this map is masked."


@pytest.mark.parametrize(("size", "most"), [(1, 1_000), (100, 60_000), (400, 600_000)])
def test_one_token_and_hundreds_are_small_messages(size: int, most: int) -> None:
    shown = planted("encoder", tokens=tuple(f"s{i}" for i in range(size)))
    assert len(encode(shown, "")) < most
    np.testing.assert_allclose(sent(shown)[1]["values"], shown.values, atol=5e-5)


def test_two_rows_of_a_head_are_compared_where_both_are_visible() -> None:
    trace = planted_trace()
    both, difference = compare_rows(trace, Place("decoder", 1, 1, row=2), 4)
    read, predicted = trace.read_tokens, trace.predicted_tokens
    assert difference is not None
    assert both.row_labels == ("A: 2 je", f"B: 4 {read[3]}")
    assert both.marked_ends == (predicted[1], predicted[3]), "as in every other map"
    np.testing.assert_array_equal(both.values, trace.decoder[0, 0, [1, 3]])
    np.testing.assert_array_equal(difference.values[0], trace.decoder[0, 0, 3] - trace.decoder[0, 0, 1])
    np.testing.assert_array_equal(difference.mask, [[0, 0, 1, 1, 1]])
    assert (difference.row_labels, difference.predicted_labels) == (("B − A",), ())
    assert map_caption(difference).startswith(f"Row “4 {read[3]}” gives ")
    header, arrays = wire.read(encode(both, "", minus=difference))
    assert (header["rows"][2], header["minus"]) == ("B − A", difference.scale)
    np.testing.assert_array_equal(arrays["mask"][2], difference.mask[0])
    of_rows, of_encoder = compare_rows(trace, Place("encoder", 1, 1, row=2), 4)
    assert of_encoder is not None
    assert of_encoder.predicted_labels == ()
    said, seen = map_caption(of_encoder), of_rows.values.round(2)  # the numbers in the cells
    for sign, most in ((" less ", (seen[1] - seen[0]).min()), (" more ", (seen[1] - seen[0]).max())):
        assert f"{abs(most):.2f}{sign}weight than row" in said
    for row in (0, 6):
        with pytest.raises(IndexError, match="no row"):
            single_row(planted("decoder"), row)


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
    first, second, words, _ = marked(a, b)
    assert [first.marked_labels[1], second.marked_labels[1]] == [
        ("1 a", "2 red", "≠ 3 dog", "4 ."), ("1 a", "≠ 2 very", "3 red", "≠ 4 cat", "5 ."),
    ]  # fmt: skip
    assert first.marks.ends == second.marks.ends == {0, 1, 2}
    assert first.marked_labels[0] == ("1 <sos>", "≠ 2 ein", "≠ 3 roter", "≠ 4 Hund"), "what they read differs, too"
    assert first.marked_ends == ("≠ ein", "≠ roter", "≠ Hund", ".")
    # "Hund" looked at the dog; "Katze" looks at "red", not at the cat.
    assert (first.marks.cells, second.marks.cells) == (((2, 1), (2, 2)), ((2, 2), (2, 3)))
    assert words == "≠ marks words that differ or are missing. Frames mark 2 weights that differ by 0.2 or more."
    one = marked(a, cross("a red dog .", "ein roter Hund .", (1, 1)))[2]
    assert one == "The frame marks the one weight that differs by 0.2 or more."
    said = "To write “Katze”, B looks more at “red” (0.90) than A at “red” (0.05) to write “Hund”."
    other = "To write “Hund”, A looks more at “dog” (0.90) than B at “cat” (0.05) to write “Katze”."
    assert pair_in_words(compare(a, b)) == f"{said} {other}"


def test_the_row_that_differs_most_is_quoted_unless_none_does() -> None:
    a = cross("a dog ran", "ein Hund lief", (0, 0), (1, 1), (2, 2))
    b = cross("a cat ran", "ein Hund lief", (0, 0), (1, 2), (2, 2))
    assert pair_in_words(compare(a, b)) == (
        "To write “Hund”, A looks more at “dog” (0.90) than B at “cat” (0.05). "
        "To write “Hund”, B looks more at “ran” (0.90) than A at “ran” (0.05)."
    )
    assert pair_in_words(compare(a, a)) == "Both maps are equal in every cell."
    none = cross("men", "Leute"), cross("a dog ran", "ein Hund lief")
    assert pair_in_words(compare(*none)) == "", "no row has a counterpart"


def test_maps_of_different_size_name_the_counterparts_that_differ_most_if_any_does() -> None:
    a = cross("a dog ran", "ein Hund lief", (0, 0), (1, 1), (2, 2))
    b = cross("the very old cat ran", "die alte Katze lief", (0, 0), (1, 1), (2, 3), (3, 3))
    said = "To write “lief”, A looks more at “ran” (0.90) than B at “ran” (0.05; another "
    assert pair_in_words(compare(a, b)).startswith(said)
    same = cross("a dog ran now", "ein Hund lief", (0, 0), (1, 1), (2, 2))
    same.values[:, :3], same.values[:, 3] = a.values, 0
    assert pair_in_words(compare(a, same)) == "", "a column more, so that not every cell is equal"
    same.values[1, 1] += 0.02
    said = "To write “Hund”, B looks more at “dog” (0.92) than A at “dog” (0.90)."
    assert pair_in_words(compare(a, same)) == said


def test_sentences_without_a_word_in_common_have_no_difference() -> None:
    a = cross("two young children play .", "zwei kleine Kinder spielen .", (0, 0))
    found = compare(a, cross("a man .", "Mann .", (0, 0)))
    assert found.difference is not None
    assert (found.difference.row_labels, found.difference.column_labels) == (("5/2 spielen / Mann",), ("5/3 .",))
    none = compare(a, cross("men", "Leute", (0, 0)))
    assert (none.difference, none.legend) == (None, "≠ marks words that differ or are missing.")
    assert "the rows of A that write “zwei”, “kleine”, “Kinder”, “spielen” and “.”" in none.caption
    assert "; the row of B that writes “Leute”; the columns “two”" in none.caption
    assert none.caption.endswith(" of A; the column “men” of B.")


@pytest.mark.parametrize(("largest", "top"), [(0.11, 0.25), (0.26, 0.3), (0.62, 0.65), (0.01, 0.25)])
def test_the_scale_of_a_difference_ends_near_the_largest_one(largest: float, top: float) -> None:
    a, b = cross("a dog", "ein Hund"), cross("a dog", "ein Hund")
    b.values[1, 1] += largest
    minus = compare(a, b).difference
    assert minus is not None
    assert minus.top == top


DIFFERENT_BY = re.compile(r"\(([\d.]+)\) than [AB] at “[^”]+” \(([\d.]+)[);]")
CHILDREN = "two young children are playing football in the park .", "Zwei kleine Kinder spielen im Park Football ."
OLD = "two old children are playing football in the park .", "Zwei alte Kinder spielen im Park Football ."
PARK = "in the park two young children are playing football .", "In einem Park spielen zwei Kinder Football ."
HAT = "A man in a hat and a woman in a dress are dancing .", "Ein Mann mit Hut und eine Frau in einem Kleid tanzen ."
DRESS = "A woman in a dress and a man in a hat are dancing .", "Eine Frau in einem Kleid und ein Mann mit Hut tanzen ."
DOG = "the dog sees the cat .", "Der Hund sieht die Katze ."
CAT = "the cat sees the dog .", "Die Katze sieht den Hund ."


@pytest.mark.parametrize(
    ("a", "b", "moved"), [(CHILDREN, PARK, True), (HAT, DRESS, True), (DOG, CAT, True), (CHILDREN, OLD, False)]
)
def test_words_in_another_order_are_compared_with_themselves(
    a: tuple[str, str], b: tuple[str, str], moved: bool
) -> None:
    """Nothing that is said contradicts the rest, whatever the numbers are."""
    for seed in range(5):
        maps = []
        for number, (source, words) in enumerate((a, b)):
            map_ = cross(source, words)
            weights = np.random.default_rng((seed, number)).dirichlet(np.full(len(map_.columns), 0.1), len(map_.rows))
            maps.append(dataclasses.replace(map_, values=weights.astype(np.float32)))
        one, other = maps
        found = compare(one, other)
        said = pair_in_words(found)
        by = [abs(float(y) - float(x)) for x, y in DIFFERENT_BY.findall(said)]
        assert len(by) == 1
        assert max(by) >= 0.19 - 1e-9
        assert "none differs" not in found.legend
        assert found.first.marks.cells, "what is named is framed"
        listed = found.caption.partition("No single counterpart")[2].partition(". ")[0].partition("the column")[0]
        for word in {word.lower() for word in one.predicted} & {word.lower() for word in other.predicted}:
            assert f"“{word}”" not in listed.lower()
        for side, beside in ((found.first, other), (found.second, one)):
            marked_keys = {side.columns[at].lower() for at in side.marks.columns}
            assert not marked_keys & {key.lower() for key in beside.columns}
        assert found.difference is not None
        row, key = found.first.marks.cells[0]
        rows, keys = found.difference.marks.twins
        row, key = rows.index(row), keys.index(key)
        assert abs(found.difference.values[row, key]) == pytest.approx(by[0], abs=0.011), "the largest change"
        assert abs(found.difference.values).max() == abs(found.difference.values[row, key])
        assert (found.second.marks.twins[0] != [*range(len(found.first.rows))]) == moved


def test_weights_that_hardly_differ_are_neither_framed_nor_said_to_differ() -> None:
    a = cross("a dog ran", "ein Hund lief", (0, 0), (1, 1), (2, 2))
    b = dataclasses.replace(a, values=a.values + np.float32(0.0004))
    found = compare(a, b)
    assert (found.first.marks.cells, "frame" in found.legend) == ((), False)
    assert pair_in_words(found) == ""
    b.values[0, 1] += 0.1
    found = compare(a, b)
    assert found.difference is not None
    assert found.first.marks.cells == found.second.marks.cells == found.difference.marks.cells == ((0, 1),)
    assert "none differs by 0.2 or more. The largest difference is framed." in found.legend


def test_both_maps_of_a_picture_have_numbers_or_none_has() -> None:
    """Cells without a number are said to be small, so that a map without numbers cannot stand beside one with them."""
    small = cross("a dog", "ein Hund", (1, 1))
    for size, has_numbers in ((20, True), (21, False)):
        large = cross(" ".join("k" * size), " ".join("w" * size))
        large.values[0, 0] = 0.001
        view = ShownMaps("both", "", (small, large), (), ("", ""), ViewOptions(view="head"), row=0)
        texts = [mark.text for mark in picture_of(view).marks if isinstance(mark, Text)]
        assert texts.count(".90") == has_numbers
        assert (".05" in texts) == ("Cells without a number are below 0.005." in texts[-1]) == has_numbers


def test_figure_and_picture_have_the_marks() -> None:
    first, second, _, _ = marked(cross("a dog", "ein Hund", (1, 1)), cross("a cat", "eine Katze"))
    header, _ = wire.read(encode(first, ""))
    assert header["columns"] == ["1 a", "≠ 2 dog"]
    assert (header["rows"], header["ends"]) == (["1 <sos>", "≠ 2 ein"], ["→ ≠ ein", "→ ≠ Hund"])
    assert header["frames"] == [[1, 1]]
    picture = picture_of(ShownMaps("both", "", (first, second), (), ("", ""), ViewOptions(view="head"), row=0))
    texts = [mark.text for mark in picture.marks if isinstance(mark, Text)]
    assert {"≠ 2 dog", "≠ 2 cat", "both", "t"} <= set(texts)
    frames = [mark for mark in picture.marks if isinstance(mark, Box) and mark.line > 1]
    tiles = [mark for mark in picture.marks if isinstance(mark, Box) and mark.edge == "#9aa5af"]
    assert len(frames) == len(tiles) == 2
    for frame, tile in zip(frames, tiles, strict=True):
        assert tile.x < frame.x < frame.x + frame.width <= tile.x + tile.width + 1e-6, "each in its own map"
