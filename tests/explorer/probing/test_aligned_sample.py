"""Pairs of words that people aligned become pairs of tokens."""

from functools import cache

import pytest

from explorer.probing.annotated import annotated_lines, in_order
from explorer.probing.measured import measure
from explorer.probing.sample import (
    SampleChoice,
    SampleError,
    default_choice,
    examples_for,
    word_links,
)
from explorer.probing.tables import gold_note
from model.analysis.word_alignment import aligned_tokens
from model.checkpoint import LoadedModel, load_model
from model.text.tokenizer import CharacterTokenizer, WhitespaceTokenizer
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS


@cache
def loaded(name: str) -> LoadedModel:
    return load_model(CHECKPOINTS / name)


def test_without_right_alignments_no_head_is_said_to_align() -> None:
    found = measure(SampleChoice(size=20), loaded("phrases-en-de"), quiet)
    assert found.probe.gold == ""
    assert "error_rate" not in found.probe.kinds["cross"].corpus
    assert "not testable here" in gold_note(found.probe)


def test_pairs_of_words_become_pairs_of_tokens() -> None:
    words, letters = WhitespaceTokenizer.train(["a b c"]), CharacterTokenizer.train(["ab c"])
    links = word_links("0-1 2-0 2?1 7-0 0-9", "a b c", "c a")
    assert (links.sure, links.possible) == ({(0, 1), (2, 0)}, {(0, 1), (2, 0), (2, 1)})
    assert aligned_tokens(links, words.encode("a b c"), words.encode("c a")) == ((2,), (0, 2))
    # Every token of a word is aligned; a space belongs to no word.
    links = word_links("0-1 1-0", "ab c", "c ab")
    assert aligned_tokens(links, letters.encode("ab c"), letters.encode("c ab")) == ((3,), (), (0, 1), (0, 1))


def test_other_models_keep_their_test_set_and_are_refused_the_scenes(reverse: LoadedModel) -> None:
    assert default_choice(reverse.data_config) == SampleChoice("task")
    with pytest.raises(SampleError, match="English and German"):
        examples_for(SampleChoice("scenes"), reverse)


PHARAOH = {"set.en": b"I see\n\na dog\n", "set.de": b"ich sehe\n\nein Hund\n", "set.links": b"0-0 1?1\n\n0-0 1-1\n"}
NAACL = {
    "set.en": b"<s snum=0001> I  see </s>\n<s snum=2> a dog </s>\n<s snum=3> more </s>\n",
    "set.de": b"<s snum=0001> ich sehe </s>\n<s snum=2> ein Hund </s>\n",
    "set.wa": b"0001 1 1 S\n0001 2 2 P\n0001 0 2\n2 1 1\n2 2 2 S 0.9\n",
}
LINES = ("I see\tich sehe\t0-0 1?1", "a dog\tein Hund\t0-0 1-1")


@pytest.mark.parametrize("files", [PHARAOH, NAACL], ids=["pharaoh", "naacl"])
def test_a_set_that_people_aligned_is_read_from_files(files: dict[str, bytes]) -> None:
    shuffled = dict(reversed(files.items()))
    assert annotated_lines(*in_order(shuffled, "en", "de")) == LINES
    example = examples_for(SampleChoice("own", LINES), loaded("reverse"))[0][0]
    assert example.links is not None
    assert (example.links.sure, example.links.possible) == ({(0, 0)}, {(0, 0), (1, 1)})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"set.de": b"ich\n"}, "3 lines of source, 1 of target and 3 of links"),
        ({"set.links": b"0-0\nno pairs\n0-0\n"}, "Line 2 of the links is not a list of pairs"),
        ({"set.de": b"\xff\xfe\n"}, "The file of the target is not text"),
        ({"other.fr": b"je vois"}, "three files: the source, with a name that ends in .en"),
        (NAACL | {"set.links": b"1 1 1 S\n1 one 1\n"}, "Line 2 of the links is not a sentence and two words"),
        (
            {"set.en": NAACL["set.en"], "set.de": b"<s snum=7> x </s>", "set.links": b"1 1 1"},
            "no sentence with the same",
        ),
    ],
)
def test_files_that_do_not_belong_together_are_refused(changes: dict[str, bytes], said: str) -> None:
    files = {name: content for name, content in (PHARAOH | changes).items() if name != "set.wa"}
    with pytest.raises(SampleError, match=said):
        annotated_lines(*in_order(files, "en", "de"))
