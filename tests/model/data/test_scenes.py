"""The scenes: whole, aligned within their words, as their card says, and nowhere in Multi30k."""

import gzip
import re

import pytest

from model.data.scenes import FILE, Annotation, Links, Scene, scenes, word_spans
from tests.paths import CHECKPOINTS

CORPUS = CHECKPOINTS.parents[1] / "shared" / "multi30k"


def agreement(pairs: tuple[Scene, ...]) -> tuple[float, float, float]:
    """How far the two annotations agree: F1 of the sure links and of all links, and Cohen's kappa over all word pairs.

    Kappa compares three labels of each pair of words: sure, possible, none.
    """
    sure = _f1([(a.sure, b.sure) for a, b in (scene.annotations for scene in pairs)])
    every = _f1([(a.sure | a.possible, b.sure | b.possible) for a, b in (scene.annotations for scene in pairs)])
    labels = [
        tuple(2 if (i, j) in each.sure else int((i, j) in each.possible) for each in scene.annotations)
        for scene in pairs
        for i in range(len(word_spans(scene.english)))
        for j in range(len(word_spans(scene.german)))
    ]
    n = len(labels)
    observed = sum(a == b for a, b in labels) / n
    chance = sum(sum(a == k for a, _ in labels) * sum(b == k for _, b in labels) for k in range(3)) / n**2
    return sure, every, (observed - chance) / (1 - chance)


def _f1(pairs: list[tuple[Links, Links]]) -> float:
    both = sum(len(a & b) for a, b in pairs)
    return 2 * both / sum(len(a) + len(b) for a, b in pairs)


def words(sentence: str) -> list[str]:
    return [sentence[start:end] for start, end in word_spans(sentence)]


def test_each_pair_has_two_annotations_within_its_words() -> None:
    pairs = scenes()
    assert words("The baker's son, in the U-Bahn.") == ["The", "baker's", "son", ",", "in", "the", "U-Bahn", "."]
    assert len(pairs) == 304
    assert [scene.id for scene in pairs] == [f"{i:03d}" for i in range(1, 305)]
    for scene in pairs:
        n_english, n_german = len(words(scene.english)), len(words(scene.german))
        for each in scene.annotations:
            assert not each.sure & each.possible, scene.id
            assert all(0 <= i < n_english and 0 <= j < n_german for i, j in each.sure | each.possible), scene.id
        assert scene.sure <= scene.possible
        assert (n_english - 1, n_german - 1) in scene.sure, f"{scene.id}: the full stops belong together"


def test_sure_is_what_both_call_sure_and_possible_what_either_links() -> None:
    first = Annotation(frozenset({(0, 0), (1, 1)}), frozenset({(2, 2)}))
    second = Annotation(frozenset({(0, 0)}), frozenset({(1, 1), (3, 3)}))
    scene = Scene("x", "", "", (first, second))
    assert scene.sure == {(0, 0)}
    assert scene.possible == {(0, 0), (1, 1), (2, 2), (3, 3)}


def test_the_card_says_how_far_the_annotations_agree() -> None:
    card = (FILE.parent / "README.md").read_text(encoding="utf-8")
    for number in agreement(scenes()):
        assert f"{number:.3f}" in card
    assert "304 English sentences" in card


def test_no_sentence_stands_in_multi30k() -> None:
    """Nor does any share more than 60 % of its distinct 4-grams with one of theirs; the card has the largest shares."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not here; a folder `shared/multi30k` beside the checkout would be read")
    card = (FILE.parent / "README.md").read_text(encoding="utf-8")
    for lang, ours in (("en", [s.english for s in scenes()]), ("de", [s.german for s in scenes()])):
        theirs = [
            plain_words(line)
            for stem in ("train", "val", "test_2016_flickr")
            for line in gzip.decompress((CORPUS / f"{stem}.{lang}.gz").read_bytes()).decode().splitlines()
        ]
        assert not {" ".join(plain_words(each)) for each in ours} & {" ".join(each) for each in theirs}
        grams = [four_grams(plain_words(each)) for each in ours]
        wanted = frozenset().union(*grams)
        found = [shared for line in theirs if (shared := four_grams(line) & wanted)]
        largest = max(len(own & shared) / len(own) for own in grams if own for shared in found)
        assert largest <= 0.6
        assert f"{100 * largest:.0f} %" in card, lang


def plain_words(line: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", line.lower()))


def four_grams(line: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(line, line[1:], line[2:], line[3:], strict=False))
