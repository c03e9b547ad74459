"""Words that one side writes in more pieces than the other are compared by their first pieces, and this is said."""

from dataclasses import replace

import pytest

from explorer.decoding.attention_maps import NO_PIECES, attention_maps
from explorer.decoding.labelled_map import LabelledMap, head_map
from explorer.decoding.pair_marks import marked, matched_rows, own_words
from tests.explorer.decoding.test_labelled_map import cross
from tests.explorer.planted import planted_trace

SAID = "Compared by the first piece of each word: "


def in_pieces(columns: str, predicted: str) -> LabelledMap:
    """A map of tokens; those after a hyphen continue the word before."""
    keys, words = ([token.removeprefix("-") for token in text.split()] for text in (columns, predicted))
    ends, inner = (
        frozenset(at for at, token in enumerate(text.split()) if token.startswith("-")) for text in (predicted, columns)
    )
    map_ = cross(" ".join(keys), " ".join(words))
    return replace(map_, continued=(frozenset(at + 1 for at in ends), ends, inner))


def test_pieces_of_words_that_are_as_many_are_compared_one_by_one() -> None:
    a, b = in_pieces("a dog .", "Vö -gel ."), in_pieces("a dog .", "Hun -de .")
    assert matched_rows(a, b) == [(0, 0), (1, 1), (2, 2)]
    assert SAID not in marked(a, b)[2]
    words = cross("a dog .", "Vögel ."), cross("a dog .", "Hunde .")
    assert SAID not in marked(*words)[2]


def test_a_piece_is_never_paired_with_a_whole_word() -> None:
    a, b = in_pieces("a b", "Ein Kind spielt Foot -ball ."), in_pieces("a b", "Ein Kind spielt Tennis gern .")
    assert matched_rows(a, b) == [(0, 0), (1, 1), (2, 2), (5, 5)], "one word in place of two"
    assert "the rows that write “Foot” and “ball” in A and “Tennis” and “gern” in B." in marked(a, b)[2]
    a, b = in_pieces("a b", "fe -eding birds ."), in_pieces("a b", "fe -ed -s dogs .")
    assert matched_rows(a, b) == [(0, 0), (2, 3), (3, 4)], "their first pieces are the same"
    assert f"{SAID}“feeding” with “feeds”. " in marked(a, b)[2]
    assert "Not compared" not in marked(a, b)[2]


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
    ],
)
def test_words_of_one_text_alone_are_known_wherever_the_others_stand(
    a: str, b: str, own: tuple[list[str], list[str]]
) -> None:
    found = own_words(a, b)
    assert tuple([word.rstrip() for word, is_own in side if is_own] for side in found) == own
    assert tuple("".join(word for word, _ in side) for side in found) == (a, b)
