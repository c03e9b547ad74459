"""What lies outside what a shipped model can do is said beside its answer; what lies inside is not."""

from functools import cache

import numpy as np
import pytest

from explorer.decoding import domain
from explorer.decoding.translator import Translation, Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.data import get_task
from model.data.task import Task
from model.edits import HeadEdit, HeadEdits
from model.folder import SHIPPED
from tests.paths import CHECKPOINTS

PARLIAMENT = "The parliament adopted the resolution on fiscal policy yesterday."
CORPUS = CHECKPOINTS.parents[1] / "shared" / "multi30k"


@cache
def translator(name: str) -> Translator:
    return Translator(load_model(CHECKPOINTS / name))


def task_of(name: str) -> Task:
    return get_task(str(translator(name).loaded.summary["task"]))


def translated(name: str, text: str) -> Translation:
    return translator(name).translate(text, DecodeConfig())


@pytest.mark.parametrize("name", SHIPPED)
def test_the_examples_are_within_its_reach(name: str) -> None:
    task = task_of(name)
    assert task.story
    assert task.trained_on
    for prompt in task.examples:
        if not task.longest or len(prompt.source) <= task.longest:
            assert domain.doubts(translated(name, prompt.source), task) == [], prompt.source


def test_a_shredded_word_is_named_even_where_the_model_is_sure() -> None:
    shown = translated("multi30k-en-de", "A man in an unbelievably large hat is standing.")
    assert domain.confidence(shown) >= task_of("multi30k-en-de").confidence > domain.LOW
    said = " ".join(domain.doubts(shown, task_of("multi30k-en-de")))
    assert "It had to spell “unbelievably” in more than 6 pieces." in said
    assert "Do not trust" in said
    rare = "A man in a turquoise hat is standing."  # one word in pieces among eight
    assert domain.doubts(translated("multi30k-en-de", rare), task_of("multi30k-en-de")) == []


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("multi30k-en-de", "你好 世界", "“你”"),
        ("multi30k-en-de", "👩‍👩‍👧 🏳️‍🌈", "“👩”"),
        ("multi30k-en-de", "Zwei kleine Kinder spielen im Park Fußball.", "only {confidence:.0f}"),
        ("multi30k-en-de", PARLIAMENT, "“parliament”"),
        ("multi30k-en-de", "The stock market fell today.", "only {confidence:.0f}"),
        ("multi30k-en-de", "The teacher explained the theorem.", "“teacher”, “explained” and “theorem” in pieces"),
        (
            "multi30k-en-de",
            "I missed the train.",
            "Although the sentence is short, the model gave only {confidence:.0f}",
        ),
        (
            "multi30k-de-en",
            "Das Buch ist langweilig.",
            "Although the sentence is short, the model gave only {confidence:.0f}",
        ),
        ("multi30k-en-de", "A dog runs and " * 10, "The sentence has 40 words; the longest in training had 37."),
        ("multi30k-de-en", "Two young children are playing football in the park.", "only {confidence:.0f}"),
        ("adjective-swap", "I read red cats", "“cats” never occurred in training"),
        ("adjective-swap", "The central bank raised rates", "“The”, “central”, “bank” and “raised” and 1 more never"),
        ("adjective-swap", "I read red", "It is none of the 591 sentences of its task"),
        ("dates", "hello world", "it nearly always gives more than 99 %."),
        ("dates", "3 March 2024 at noon", "to its likeliest letter (geometric mean); on"),
        ("dates", "31 February 2024", "there may be no such day"),
        ("phrases-en-de", "The weather is nice", "“weather” and “nice” never occurred"),
        ("reverse", "HELLO", "never occurred in training"),
        ("reverse", "abcdefghijklmnopqrst", "The sentence has 20 tokens; the longest in training had 16."),
        ("reverse-lstm", "a1b2", "“1” and “2” never occurred"),
    ],
)
def test_what_is_far_from_training_is_not_to_be_trusted_and_why(name: str, text: str, reason: str) -> None:
    translation = translated(name, text)
    said = " ".join(domain.doubts(translation, task_of(name)))
    assert said.startswith("Do not trust the answer.")
    # A sentence that is only too long may be about the right things.
    assert said.endswith((f"The model was trained on {task_of(name).trained_on}.", reason))
    assert reason.format(confidence=100 * domain.confidence(translation)) in said


@pytest.mark.parametrize("name", ["dates", "reverse", "reverse-decoder", "reverse-lstm", "adjective-swap"])
def test_sentences_of_the_task_are_not_doubted(name: str) -> None:
    task = task_of(name)
    sentences = [example.source for example in task.splits["valid"][:20]]
    sentences += ["i READ red books"] if name == "adjective-swap" else []  # case makes no other sentence
    assert [text for text in sentences if domain.doubts(translated(name, text), task)] == []


@pytest.mark.parametrize(("name", "given"), [("reverse", 0), ("reverse-decoder", len("headlight") + 1)])
def test_confidence_is_the_geometric_mean_of_the_likeliest_in_the_answer(name: str, given: int) -> None:
    shown = translated(name, "headlight")
    likeliest = shown.trace.top_probabilities[given:, 0].astype(float)
    assert len(likeliest) == len("headlight") + 1
    assert domain.confidence(shown) == pytest.approx(float(np.prod(likeliest)) ** (1 / len(likeliest)))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("multi30k")])
def test_nearly_all_validation_sentences_are_above_the_usual_confidence(name: str) -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not here; a folder `shared/multi30k` beside the checkout would be read")
    task = get_task(name, data_dir=CORPUS)
    sure = [domain.confidence(translated(name, example.source)) for example in task.splits["valid"][::5]]
    assert 0.95 <= np.mean(np.array(sure) > task.confidence) < 0.97, "0.95 with two digits"


def test_nothing_is_said_of_an_edited_translation() -> None:
    name = "multi30k-en-de"
    edit = HeadEdits(tuple(HeadEdit("cross", layer, head, "zero") for layer in range(4) for head in range(4)))
    text = "Two young children are playing football in the park."
    shown = translator(name).translate(text, DecodeConfig(), edit=edit)
    assert domain.confidence(shown) < task_of(name).confidence
    assert domain.doubts(shown, task_of(name)) == []
