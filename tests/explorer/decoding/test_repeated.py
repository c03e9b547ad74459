"""What a sentence several times over tells about length and repetition, and when it tells neither."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.decoding.repeated import Several, different, first_lost, repeated, verdict


def rows(tokens: int, *found: int) -> tuple[Several, ...]:
    """A sentence of so many tokens once, twice and so on, with the translations found in each answer."""
    return tuple(Several(n, n * tokens, "", each) for n, each in enumerate(found, start=1))


LENGTH, REPETITION, NEITHER = (
    "the length is the likely reason",
    "suggests that the repetition is the reason",
    "suggests that the reason is several sentences in one input",
)
UNTOLD, NOT_LENGTH = "it cannot be told", "so the length alone does not explain it"
NO_REPETITION = "so it does not take a repetition"
CLAIMS = (LENGTH, REPETITION, NEITHER, UNTOLD, NOT_LENGTH, NO_REPETITION)
PASSED, LOST = Several(2, 21, "", 2), Several(2, 21, "", 1)
TOO_LONG = Several(2, 50, "", 2)


@pytest.mark.parametrize(
    ("each", "trained", "others", "claim"),
    [
        (rows(10, 1, 1, 2), 49, PASSED, REPETITION),
        (rows(10, 1, 1, 2), 49, LOST, NEITHER),
        (rows(10, 1, 1, 2), 49, None, NOT_LENGTH),
        (rows(10, 1, 1, 2), 49, TOO_LONG, NOT_LENGTH),
        (rows(5, 1, 2, 3, 1), 16, LOST, LENGTH),
        (rows(10, 1, 1), 16, LOST, NO_REPETITION),
        (rows(10, 1, 1), 16, PASSED, UNTOLD),
        (rows(11, 1, 1), 21, LOST, UNTOLD),  # the different ones are as long as in training
        (rows(10, 1, 2, 1), 16, PASSED, UNTOLD),
        (rows(10, 1, 1), 0, PASSED, ""),
        (rows(10, 1, 2, 3), 49, None, ""),
        (rows(10, 1, 2, 3), 16, None, ""),
    ],
)
def test_a_reason_is_named_only_if_the_counts_show_it(
    each: tuple[Several, ...], trained: int, others: Several | None, claim: str
) -> None:
    said = verdict(each, trained, others)
    assert [every for every in CLAIMS if every in said] == [claim] * bool(claim)
    lost = first_lost(each)
    if lost is None:
        assert said.startswith(f"Up to 3 × (30 tokens{', longer than anything in training' * (trained == 16)})")
    else:
        counted = f"translation, word for word, {lost.found} × instead of {lost.sentences} ×."
        assert said.startswith(f"At {lost.sentences} × ({lost.tokens} tokens) the answer has the sentence's {counted}")


@pytest.mark.parametrize(
    ("answers", "trained", "first"),
    [
        (("a", "b", "b", "b"), 30, 20),
        (("a", "b", "b", "b"), 15, 0),  # all of them are longer than training
        (("a", "b", "b", "b"), 40, 0),  # none is
        (("a", "b", "c", "b"), 30, 0),
        (("a", "b", "b", "b"), 0, 0),
    ],
)
def test_answers_are_said_to_be_the_same_only_if_they_are_from_trained_to_longer_inputs(
    answers: tuple[str, ...], trained: int, first: int
) -> None:
    each = tuple(Several(n, 10 * n, answer, 1) for n, answer in enumerate(answers, start=1))
    sentence = f"The answer is the same from {first} to 40 tokens, also beyond the longest input in training."
    said = verdict(each, trained, LOST)
    assert said.endswith(sentence) if first else "The answer is the same" not in said


def test_of_different_sentences_none_is_a_word_and_some_are_counted() -> None:
    each, none = rows(10, 1, 1), Several(2, 21, "", 0)
    assert "and none of 2 different sentences (21 tokens) came through" in verdict(each, 49, none)
    assert "of 2 different sentences (21 tokens) 1 came through" in verdict(each, 49, LOST)
    assert "none of" not in verdict(each, 49, LOST)


def test_once_tells_nothing() -> None:
    assert verdict(rows(10, 1), 49, None) == verdict((), 49, None) == ""


def said(text: str, answer: str) -> Any:
    return SimpleNamespace(source=_Source(text), text=answer)


@dataclasses.dataclass
class _Source:
    text: str

    def __len__(self) -> int:
        return min(12, len(self.text.split()))  # a model that reads 12 tokens at most


def test_translations_are_counted_word_for_word_until_the_model_reads_no_more() -> None:
    answers = {1: "Ein Hund.", 2: "Ein Hund. Ein Hund!", 3: "Ein Hundekorb. ein Hund", 4: "ein Hund. " * 9}
    found = repeated(
        said("a dog runs", "Ein Hund."), lambda text: said(text, answers.get(len(text.split()) // 3, "")), 0, " "
    )
    assert [(row.sentences, row.tokens, row.found) for row in found] == [(1, 3, 1), (2, 6, 2), (3, 9, 1), (4, 12, 4)]
    assert repeated(said("a dog", ""), lambda text: said(text, ""), 0, " ") == ()


def test_different_sentences_are_counted_by_their_own_translations() -> None:
    own = {"one": "eins.", "two": "zwei", "three": "drei"}
    found = different(said("one", "eins."), lambda text: said(text, own.get(text, "Zwei eins")), [*own], 3, " ")
    assert found == Several(3, 3, "Zwei eins", 2, ("one", "two", "three"))
    assert different(said("one", "eins."), lambda text: said(text, "eins"), ["one", "two"], 3, " ") is None
