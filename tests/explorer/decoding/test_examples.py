"""Examples, the hints that a translation bears out, right translations, and the step at which one opens."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.decoding.decoding import chosen_rows, step_worth_seeing
from explorer.decoding.examples import Prompt, borne_out, hint_for, offer_of, reference, references
from model.config import DecodeConfig
from model.data import get_task
from model.data.scenes import scenes
from model.folder import SHIPPED
from model.trace import AttentionTrace
from tests.explorer.decoding.test_domain import task_of, translated, translator
from tests.explorer.planted import planted_trace

# Examples of a task whose hint a model's own answer does not bear out: read beside the answers.
NOT_BORNE_OUT = {
    # It knows nothing but the noun phrase: there is no verb to look at.
    "adjective-swap-unmasked": {"We eat green apples", "They buy blue cars", "She sees small houses"},
    # Its attention is one letter ahead of the other diagonal.
    "reverse-lstm": {"headlight", "attention"},
    # It has no cross-attention, of which the hints speak.
    "reverse-decoder": {"headlight", "attention"},
}


@pytest.mark.parametrize("name", SHIPPED)
def test_only_hints_that_the_answer_bears_out_are_shown(name: str) -> None:
    """What a hint quotes stands in the source or in the translation; in a question too."""
    prompts, hidden = task_of(name).examples, set()
    for prompt in prompts:
        translation = translated(name, prompt.source)
        if not hint_for(prompt.source, prompts, translation):
            hidden.add(prompt.source)
            continue
        text = f"{translation.source.text} {translation.text} {prompt.instead}".casefold()
        quotes = [piece.split("”")[0] for piece in prompt.note.split("“")[1:]]
        assert [quote for quote in quotes if quote.casefold() not in text] == [], prompt.source
    assert hidden == NOT_BORNE_OUT.get(name, set())


@pytest.mark.parametrize(
    ("model", "text", "changes", "holds"),
    [
        ("adjective-swap", "I read red books", {}, True),
        ("adjective-swap", "I read red books", {"says": ("livres rouge",)}, True),
        ("adjective-swap", "I read red books", {"says": ("livre",)}, False),  # whole words only
        ("adjective-swap", "I read red books", {"says": ("rouge livres",)}, False),
        ("adjective-swap", "I read red books", {"looks": (("livres", "books"), ("rouge", "red"))}, True),
        ("adjective-swap", "I read red books", {"looks": (("rouge", "books"),)}, False),
        ("adjective-swap", "I read red books", {"looks": (("nous", "we"),)}, False),
        ("adjective-swap", "I read red books", {"pattern": "mirror"}, False),
        ("reverse", "headlight", {"pattern": "mirror"}, True),
        ("reverse", "headlight", {"pattern": "diagonal"}, False),
        ("reverse", "headlight", {"word": "t", "instead": "h"}, True),
        ("reverse", "headlight", {"word": "t", "instead": "no such token"}, False),
        ("reverse", "headlight", {"word": "x", "instead": "h"}, False),
    ],
)
def test_what_a_hint_takes_for_granted(model: str, text: str, changes: dict[str, Any], holds: bool) -> None:
    assert borne_out(Prompt(text, "note", **changes), translated(model, text)) is holds


def test_every_hint_of_the_bundled_translators_offers_what_it_says_and_only_where_it_exists() -> None:
    expected = {
        "Two young children are playing football in the park.": "Zwei kleine Kinder spielen Fußball im Park.",
        "A man who is wearing a red hat is reading a newspaper.": (
            "Ein Mann, der einen roten Hut trägt, liest Zeitung."
        ),
        "A basketball player is trying to throw the ball.": "Ein Basketballspieler versucht, den Ball zu werfen.",
        "The dog is not playing with the ball.": "Der Hund spielt nicht mit dem Ball.",
        "A woman is sitting on the bank of a river.": "Eine Frau sitzt auf dem Strand eines Flusses.",
        "Zwei kleine Kinder spielen im Park Fußball.": "Two young children are playing football in the park.",
        "Ein Mann, der einen roten Hut trägt, liest eine Zeitung.": "A man in a red hat is reading a newspaper.",
        "Ein Basketballspieler versucht, den Ball zu werfen.": "A basketball player is trying to throw the ball.",
        "Der Hund spielt nicht mit dem Ball.": "The dog is not playing with the ball.",
        "Eine Frau sitzt auf einer Bank im Park.": "A woman sitting on a bench in the park.",
    }
    offered = {}
    for model in ("multi30k-en-de", "multi30k-de-en"):
        prompts = task_of(model).examples
        for prompt in prompts:
            translation = translated(model, prompt.source)
            offer = offer_of(prompt.source, prompts, translation)
            assert offer, prompt.source
            step, token, word = offer
            assert translation.trace.top_tokens[step - 1].index(word) > 0
            path = (*translation.path[: step - 1], token)
            forked = translator(model).translate(prompt.source, DecodeConfig(), prefix=path)
            offered[prompt.source] = forked.text
            assert hint_for(prompt.source, prompts, forked) == "", "it does not propose what has been chosen"
            assert offer_of(prompt.source, prompts, forked) is None
    assert offered == expected
    prompts = task_of("multi30k-en-de").examples
    football = prompts[0]
    elsewhere = dataclasses.replace(football, instead="Tennis")
    assert "Tennis" not in {
        token for row in translated("multi30k-en-de", football.source).trace.top_tokens for token in row
    }
    assert hint_for(football.source, (elsewhere,), translated("multi30k-en-de", football.source)) == ""


def test_every_pair_of_a_task_is_known() -> None:
    known = references({"task": "adjective-swap", "folder": ""})
    for examples in get_task("adjective-swap").splits.values():
        assert all(known[example.source] == example.target for example in examples)
    assert reference(" We READ red books", known) == "nous lisons livres rouge"
    assert reference("we read red green books", known) == ""


def with_probabilities(*rows: tuple[float, float]) -> AttentionTrace:
    """A trace whose rows have these probabilities of the two likeliest tokens; further ones have none."""
    trace = planted_trace()
    top = np.zeros_like(trace.top_probabilities)
    top[:, :2] = rows
    return dataclasses.replace(trace, top_probabilities=top)


def test_chosen_rows_are_those_whose_token_is_not_the_likeliest() -> None:
    trace = planted_trace()
    path = [int(i) for i in trace.top_ids[:, 0]]
    assert chosen_rows(trace, path) == ()
    path[1], path[3] = int(trace.top_ids[1, 2]), 999
    assert chosen_rows(trace, path) == (1, 3)


def test_it_opens_at_the_closest_race_or_at_the_word_that_an_example_names() -> None:
    trace = with_probabilities((0.9, 0.1), (0.5, 0.3), (0.4, 0.35), (0.6, 0.2), (0.5, 0.5))
    assert step_worth_seeing(trace) == 3, "the last row, the end of the sentence, does not count"
    assert step_worth_seeing(trace, trace.predicted_tokens[3]) == 4
    assert step_worth_seeing(trace, "no such word") == 3
    equal = with_probabilities((0.9, 0.1), (0.5, 0.25), (0.5, 0.25), (0.9, 0.0), (1.0, 0.0))
    assert step_worth_seeing(equal) == 2, "the first of them"


def test_without_the_corpus_only_what_ships_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    known = references({"task": "multi30k-de-en", "folder": ""})
    assert known == {scene.german: scene.english for scene in scenes()}
    for task in ("imported", "files"):
        assert references({"task": task, "folder": str(tmp_path)}) == {}
