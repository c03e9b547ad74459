"""Words are compared as a whole: the weights of a key's pieces are added up, and the row writes the first piece."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.attention_maps import NO_PIECES, attention_maps
from explorer.decoding.comparison import compare, pair_in_words
from explorer.decoding.labelled_map import LabelledMap, head_map, map_caption
from explorer.decoding.pair_marks import counterparts, marked, matched_rows, own_words, words_along
from explorer.files.tables import map_csv
from tests.explorer.decoding.test_labelled_map import cross
from tests.explorer.planted import planted_trace

SAID = "Words with unequal numbers of pieces are compared by the rows of their first pieces."


def in_pieces(columns: str, predicted: str, *heavy: tuple[int, int]) -> LabelledMap:
    """A map of tokens; those after a hyphen continue the word before."""
    keys, words = ([token.removeprefix("-") for token in text.split()] for text in (columns, predicted))
    ends, inner = (
        frozenset(at for at, token in enumerate(text.split()) if token.startswith("-")) for text in (predicted, columns)
    )
    map_ = cross(" ".join(keys), " ".join(words), *heavy)
    return replace(map_, continued=(frozenset(at + 1 for at in ends if at + 1 < len(words)), ends, inner))


def test_the_pieces_of_a_key_are_added_up_before_words_are_compared() -> None:
    """B looks more at the whole word, though less at its first piece."""
    a, b = in_pieces("the dog runs", "Der Hund läuft"), in_pieces("the un -ic -yclist runs", "Der Hund läuft")
    a.values[0, 1] = 0.264
    b.values[:, 1:4] /= 3
    b.values[0, 1:4] = 0.081, 0.036, 0.229
    found = compare(a, b)
    total = float(b.values[0, 1:4].sum())
    said = f"To write “Der”, B looks more at “unicyclist” ({total:.2f} together) than A at “dog” (0.26)."
    assert pair_in_words(found) == said
    assert (found.first.marks.cells[:1], found.second.marks.cells[:3]) == (((0, 1),), ((0, 1), (0, 2), (0, 3)))
    most, *others = counterparts(a, b)
    assert most.weights == (pytest.approx(0.264), pytest.approx(total)), "the numbers in the cells"
    assert ("unicyclist", found.second.marks.columns) == ("".join(b.columns[1:4]), {1, 2, 3})
    assert found.difference is not None
    assert found.difference.marked_labels[1] == ("1 the", "≠ 2 dog / unicyclist", "3/5 runs")
    assert found.difference.values[0, 1] == pytest.approx(total - 0.264), "a whole word where pieces are not as many"
    assert (found.difference.marks.cells, found.difference.marks.twins[1]) == (((0, 1),), [0, 1, 2])
    assert all(pair.change <= most.change for pair in others)


def test_a_cell_has_its_counterparts_in_the_map_beside_it() -> None:
    a, b = in_pieces("the dog runs", "Der Hund läuft"), in_pieces("the un -yclist runs", "Der Hund geht schnell .")
    first, second, _, _ = marked(a, b)
    assert first.marks.twins == ([0, 1, 2], [0, 1, 2])
    assert second.marks.twins == ([0, 1, -1, -1, -1], [0, 1, 1, 2]), "both pieces belong to “dog”"
    again = in_pieces("the Vö -gel runs", "Der Hund läuft"), in_pieces("the Hun -de runs", "Der Hund läuft")
    assert marked(*again)[1].marks.twins == ([0, 1, 2], [0, 1, 2, 3]), "maps in line: the same place"
    minus = compare(a, b).difference
    assert minus is not None
    assert minus.marks.twins == ([0, 1], [0, 1, 2]), "rows in pieces that are left out have none"


def sums_to_one(columns: str, predicted: str, *rows: tuple[float, ...]) -> LabelledMap:
    return replace(cross(columns, predicted), values=np.array(rows, np.float32))


DOT = sums_to_one("snow . <eos>", "Schnee .", (0.7, 0.2, 0.1), (0.08, 0.24, 0.68))
NO_DOT = sums_to_one("snow <eos>", "Schnee .", (0.8, 0.2), (0.09, 0.91))
LOOKS_MORE = "To write “.”, {} looks more at “<eos>” (0.91) than {} at “<eos>” (0.68"


def test_a_word_that_one_map_lacks_is_named_with_the_change_that_it_explains() -> None:
    """Whichever of the maps lacks it; the page lists it, and the difference leaves it out."""
    found = compare(DOT, NO_DOT)
    without = "another 0.24 goes to “.”, which {} lacks there)."
    assert pair_in_words(found) == f"{LOOKS_MORE.format('B', 'A')}; {without.format('B')}"
    assert pair_in_words(compare(NO_DOT, DOT)) == f"{LOOKS_MORE.format('A', 'B')}; {without.format('A')}"
    assert found.caption == "No single counterpart, so neither compared nor in B − A: the column “.” of A."
    minus = found.difference
    assert minus is not None
    assert (minus.row_labels, minus.column_labels) == (("1 <sos>", "2 Schnee"), ("1 snow", "3/2 <eos>"))
    assert minus.values[1] == pytest.approx([0.01, 0.23])
    assert (minus.marks.cells, minus.marks.twins) == (((1, 1),), ([0, 1], [0, 2]))
    assert "-0.2" not in map_caption(minus)
    assert "“2 Schnee” looks at “3/2 <eos>”" in map_caption(minus)
    words = map_csv(minus).decode("utf-8-sig")
    assert "B minus A,2 Schnee,3 .,3/2 <eos>," in words, "positions in A and in B"


def test_a_word_that_explains_little_is_not_named_with_the_change() -> None:
    for dot, said in ((0.116, True), (0.114, False), (0.0, False)):
        a = sums_to_one("snow . <eos>", "Schnee .", (0.7, 0.2, 0.1), (0.32 - dot, dot, 0.68))
        words = pair_in_words(compare(a, NO_DOT))
        assert "looks more at “<eos>” (0.91)" in words
        assert ("another" in words) == said, "from half of the change, 0.23"
    a = sums_to_one("snow now <eos>", "Schnee .", (0.7, 0.2, 0.1), (0.08, 0.24, 0.68))
    b = sums_to_one("snow right here <eos>", "Schnee .", (0.7, 0.1, 0.1, 0.1), (0.0, 0.0, 0.09, 0.91))
    assert "another 0.24 goes to “now”, which B lacks there" in pair_in_words(compare(a, b))
    b.values[1] = 0.0, 0.1, 0.14, 0.76
    assert "another" not in pair_in_words(compare(a, b)), "B gives as much to words that only B has"
    matched = sums_to_one("snow , <eos>", "Schnee .", (0.7, 0.1, 0.2), (0.08, 0.01, 0.91))
    found = compare(DOT, matched)
    assert "another" not in pair_in_words(found), "a comma in place of the full stop"
    assert found.caption == ""


def test_a_word_that_stands_twice_in_one_map_is_lacking_only_there() -> None:
    a = sums_to_one("a man and a dog", "ein Hund", (0.3, 0.1, 0.1, 0.4, 0.1), (0.0, 0.0, 0.1, 0.5, 0.4))
    b = sums_to_one("a man and dog", "ein Hund", (0.3, 0.1, 0.1, 0.5), (0.0, 0.0, 0.1, 0.9))
    said = "(0.90) than A at “dog” (0.40; another 0.50 goes to “a”, which B lacks there)."
    first, *more = pair_in_words(compare(a, b)).split(" To write ")
    assert first == f"To write “Hund”, B looks more at “dog” {said}"
    assert len(more) == 1, "of two frames, both are named"
    b.values[0, 3] = 0.2
    assert compare(a, b).legend.endswith("The frame marks the one weight that differs by 0.2 or more.")
    assert pair_in_words(compare(a, b)).count("To write") == 1


def test_characters_are_no_pieces_of_a_word() -> None:
    prompt = replace(in_pieces("h -e", "d -a -e"), predicted=("", "a", "e"))
    assert words_along(prompt, 1)[1] == ["", "a", "e"]
    a, b = in_pieces("h -e -a -d", "d -a -e -h", (1, 2)), in_pieces("h -e -o -d", "d -o -e -h")
    assert words_along(a, 2)[1] == ["h", "e", "a", "d"]
    assert pair_in_words(compare(a, b)) == "To write “a”, A looks more at “a” (0.90) than B at “o” (0.05) to write “o”."
    assert words_along(in_pieces("dog -s", "a"), 2)[1] == ["dogs"]


def test_a_row_that_writes_nothing_is_named_by_what_it_reads() -> None:
    a, b = (replace(in_pieces("x y", "d e"), predicted=("", "e")) for _ in "ab")
    a.values[0, 1] = 0.4
    assert pair_in_words(compare(a, b)) == "From “<sos>”, A looks more at “y” (0.40) than B at “y” (0.05)."


def test_pieces_of_words_that_are_as_many_are_compared_one_by_one() -> None:
    a, b = in_pieces("a dog .", "Vö -gel ."), in_pieces("a dog .", "Hun -de .")
    assert matched_rows(a, b) == [(0, 0), (1, 1), (2, 2)]
    assert SAID not in marked(a, b)[3]
    words = cross("a dog .", "Vögel ."), cross("a dog .", "Hunde .")
    assert SAID not in marked(*words)[3]


def test_a_piece_is_never_paired_with_a_whole_word() -> None:
    a, b = in_pieces("a b", "Ein Kind spielt Foot -ball ."), in_pieces("a b", "Ein Kind spielt Tennis gern .")
    assert matched_rows(a, b) == [(0, 0), (1, 1), (2, 2), (5, 5)], "one word in place of two"
    assert "the row of A that writes “Football”; the rows of B that write “Tennis” and “gern”." in marked(a, b)[3]
    a, b = in_pieces("a b", "fe -eding birds ."), in_pieces("a b", "fe -ed -s dogs .")
    assert matched_rows(a, b) == [(0, 0), (2, 3), (3, 4)], "their first pieces"
    assert marked(a, b)[3] == SAID


def test_words_that_differ_are_paired_by_the_word_that_they_look_at() -> None:
    """Also where one map has more of them; a row that is spread out has no pair."""
    a = in_pieces("the dog runs", "Der Hund rennt .", (1, 1), (2, 2))
    b = in_pieces("the un -ic -yclist runs", "Der unbekannte Rad -fahrer läuft .", (1, 1), (2, 3), (4, 4))
    assert matched_rows(a, b) == [(0, 0), (1, 2), (2, 4), (3, 5)]
    first, second, legend, said = marked(a, b)
    assert "that writes “unbekannte”." in said
    assert "Words that differ are paired where they look most at the same word." in said
    assert (first.marks.ends, second.marks.ends) == ({1, 2}, {1, 2, 3, 4}), "they are marked as before"
    assert "with a counterpart" in legend
    even = in_pieces("the un -ic -yclist runs", "Der unbekannte Rad -fahrer läuft .")
    assert matched_rows(a, even) == [(0, 0), (3, 5)], "none of its words leads"
    assert "are paired" not in marked(a, even)[3]
    b.values[2], b.values[4] = b.values[4].copy(), b.values[2].copy()
    assert matched_rows(a, b) == [(0, 0), (1, 1), (2, 2), (3, 5)], "in their order"
    lone = in_pieces("the cat", "Der Hund rennt", (1, 1)), in_pieces("the big cat", "Der sehr große Kater", (1, 1))
    assert matched_rows(*lone) == [(0, 0)], "“big” has no counterpart"


def test_maps_know_which_tokens_continue_a_word() -> None:
    """A prediction that was not read next belongs to no word."""
    trace = planted_trace()
    read = trace.read_tokens
    trace = replace(trace, tgt_words=(-1, 0, 0, 1, 1), src_words=(0, 0, 1, 2, -1))
    for predicted, ends in ((read[1:], {1, 3}), ((*read[1:4], "other"), {1})):
        chosen = replace(trace, predicted_tokens=(*predicted, "<eos>"))
        assert head_map(attention_maps(chosen, "cross"), 1, 1).continued == ({2, 4}, ends, {1})
    assert attention_maps(trace, "encoder").continued == ({1}, frozenset(), {1})
    assert attention_maps(trace, "decoder").continued[2] == {2, 4}
    assert attention_maps(trace, "cross", "words").continued == NO_PIECES


@pytest.mark.parametrize(
    ("a", "b", "own"),
    [
        ("A man and a woman.", "A woman and a man.", ([], [])),
        ("A red hat.", "A blue hat.", (["red"], ["blue"])),
        ("Ein Mann singt.", "Mann, ein großer, singt.", ([], [",", "großer", ","])),
        ("The dog runs.", "A boy runs", (["The", "dog", "."], ["A", "boy"])),
    ],
)
def test_words_of_one_text_alone_are_known_wherever_the_others_stand(
    a: str, b: str, own: tuple[list[str], list[str]]
) -> None:
    found = own_words(a, b)
    assert tuple([word.rstrip() for word, is_own in side if is_own] for side in found) == own
    assert tuple("".join(word for word, _ in side) for side in found) == (a, b)
