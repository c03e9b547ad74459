"""Pairs of words become pairs of tokens, whether people aligned them or a statistical aligner, which is said."""

from __future__ import annotations

import pytest

from explorer.probing.measured import Measured, measure
from explorer.probing.sample import SampleChoice, align, gather, has_gold, is_alignment, word_links
from explorer.probing.tables import gold_note
from model.analysis.word_alignment import aligned_tokens
from model.checkpoint import LoadedModel, load_model
from model.text.tokenizer import CharacterTokenizer, WhitespaceTokenizer
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS


@pytest.fixture(scope="module")
def phrases() -> LoadedModel:
    return load_model(CHECKPOINTS / "phrases-en-de")


def test_statistical_links_make_alignment_testable_and_are_called_so(phrases: LoadedModel) -> None:
    without = measure(SampleChoice(size=60), phrases, quiet)
    assert without.probe.gold == ""
    assert "not testable here" in gold_note(without.probe)
    found = measure(SampleChoice(size=60, aligned=True), phrases, quiet)
    assert found.probe.gold == "statistical"
    assert "error_rate" in found.probe.kinds["cross"].corpus
    assert "aligned by a statistical aligner, not by people" in gold_note(found.probe)
    assert "alignments are statistical, not right: IBM Model 1" in found.about
    assert (
        "it has an alignment error rate of 0.23 on their links, which were annotated with a language model; the one "
        "used here has 0." in found.about
    )
    rates = found.probe.kinds["cross"].corpus["error_rate"]
    assert rates.own.min() < rates.uniform, "some head agrees with it more than uniform attention does"
    assert "induction" in found.probe.kinds["encoder"].scores, "everything else is measured as before"


def test_the_links_of_a_sentence_are_those_of_its_words(phrases: LoadedModel) -> None:
    sample, _, task = gather(SampleChoice(size=60), phrases, quiet)
    aligned, _ = align(sample, phrases, task, quiet)
    assert aligned.statistical
    assert aligned.part([0]).statistical
    index = next(i for i, source in enumerate(sample.sources) if source.text.lower().startswith("i am a student"))
    links = aligned.links[index]
    assert links is not None
    texts = [phrases.target.label(i) for i in aligned.targets[index]]
    student = next(j for j, text in enumerate(texts) if text.lower() == "student")
    assert links.sure[student].nonzero()[0].tolist() == [3]


def test_right_alignments_are_left_as_they_are(measured: Measured, reverse: LoadedModel) -> None:
    assert has_gold(measured.sample)
    assert align(measured.sample, reverse, measured.task, quiet) == (measured.sample, "")
    found = measure(SampleChoice(size=60, aligned=True), reverse, quiet)
    assert found.probe.gold == "tokens"
    assert "statistical" not in found.about


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-0", True), ("0-0  1-2 ", True), ("", False), ("0-0,1-1", False), ("a-b", False), ("0?0 1-1", True)],
)
def test_what_is_an_alignment(text: str, expected: bool) -> None:
    assert is_alignment(text) is expected


def test_pairs_of_words_become_pairs_of_tokens() -> None:
    words, letters = WhitespaceTokenizer.train(["a b c"]), CharacterTokenizer.train(["ab c"])
    links = word_links("0-1 2-0 2?1 7-0 0-9", "a b c", "c a")
    assert (links.sure, links.possible) == ({(0, 1), (2, 0)}, {(0, 1), (2, 0), (2, 1)})
    assert aligned_tokens(links, words.encode("a b c"), words.encode("c a")) == ((2,), (0, 2))
    # Every token of a word is aligned; a space belongs to no word.
    links = word_links("0-1 1-0", "ab c", "c ab")
    assert aligned_tokens(links, letters.encode("ab c"), letters.encode("c ab")) == ((3,), (), (0, 1), (0, 1))
