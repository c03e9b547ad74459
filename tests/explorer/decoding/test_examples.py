"""Examples and their hints, right translations, and what lies outside what a shipped model can do."""

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.decoding import domain
from explorer.decoding.decoding import chosen_rows
from explorer.decoding.examples import Prompt, borne_out, hint_for, offer_of, place_in_data, references
from explorer.decoding.translator import Translation, Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.data import get_task
from model.data.files import DATA_FILE
from model.data.scenes import scenes
from model.data.task import Task
from model.edits import HeadEdit, HeadEdits
from model.folder import CONFIG, SHIPPED
from tests.explorer.planted import planted_trace
from tests.paths import CHECKPOINTS


@pytest.mark.parametrize(
    ("model", "text", "changes", "holds"),
    [
        ("adjective-swap", "I read red books", {}, True),
        ("adjective-swap", "I read red books", {"says": ("livres rouge",)}, True),
        ("adjective-swap", "I read red books", {"says": ("livre",)}, False),  # whole words only
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
            assert forked.text != translation.text
            assert hint_for(prompt.source, prompts, forked) == "", "it does not propose what has been chosen"
            assert offer_of(prompt.source, prompts, forked) is None
    prompts = task_of("multi30k-en-de").examples
    football = prompts[0]
    elsewhere = dataclasses.replace(football, instead="Tennis")
    assert "Tennis" not in {
        token for row in translated("multi30k-en-de", football.source).trace.top_tokens for token in row
    }
    assert hint_for(football.source, (elsewhere,), translated("multi30k-en-de", football.source)) == ""


def test_chosen_rows_are_those_whose_token_is_not_the_likeliest() -> None:
    trace = planted_trace()
    path = [int(i) for i in trace.top_ids[:, 0]]
    assert chosen_rows(trace, path) == ()
    path[1], path[3] = int(trace.top_ids[1, 2]), 999
    assert chosen_rows(trace, path) == (1, 3)


def test_without_the_corpus_only_what_ships_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    known = references({"task": "multi30k-de-en", "folder": ""})
    assert known == {scene.german: scene.english for scene in scenes()}
    for task in ("imported", "files"):
        assert references({"task": task, "folder": str(tmp_path)}) == {}


def test_a_source_is_known_from_training_held_out_or_new(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text("{}")
    pairs = ("train", "a  b", "x"), ("train", "a b", "y"), ("valid", "c", "z"), ("valid", "A B", "v")
    lines = [json.dumps({"split": split, "source": source, "target": target}) for split, source, target in pairs]
    (tmp_path / DATA_FILE).write_text("\n".join(lines))
    summary = {"task": "files", "folder": str(tmp_path), "data": {"split_seed": 0}}
    assert place_in_data(summary, " a b") == "It was trained on this source, with the answer “x” or “y”."
    assert place_in_data(summary, "A b") == (
        "It was trained on this source in other capitals, with the answer “x” or “y”."
    )
    assert place_in_data(summary, "c") == "This source was held out of its training; the right answer is “z”."
    assert place_in_data(summary, "d") == "This source is new: none of its pairs has it."
    (tmp_path / CONFIG).write_text('{"added_data": [{"file": "more.tsv"}]}')
    assert place_in_data(summary, "d") == "", "it may be among the pairs that were added"
    (tmp_path / DATA_FILE).unlink()
    assert place_in_data(summary, "c") == ""


def test_a_source_that_was_held_out_by_another_seed_is_looked_up_with_it() -> None:
    held_out = get_task("reverse", split_seed=3).splits["valid"][0]
    summary = {"task": "reverse", "folder": str(CHECKPOINTS / "reverse"), "data": {"split_seed": 3}}
    assert f"held out of its training; the right answer is “{held_out.target}”" in place_in_data(
        summary, held_out.source
    )


def own_pairs(folder: Path, trained: tuple[str, ...], held_out: str, **config: object) -> dict[str, Any]:
    """The summary of a model that was trained on these sources of somebody's own."""
    folder.mkdir()
    (folder / CONFIG).write_text(json.dumps(config))
    pairs = [*(("train", source) for source in trained), ("valid", held_out)]
    lines = [json.dumps({"split": split, "source": source, "target": "x"}) for split, source in pairs]
    (folder / DATA_FILE).write_text("\n".join(lines))
    return {"task": "files", "folder": str(folder), "trained": True, "imported": False, "data": {}}


def test_a_source_that_is_longer_or_shorter_than_all_own_training_sources_is_doubted(tmp_path: Path) -> None:
    shown = translated("adjective-swap", "I read red books")
    exact = own_pairs(tmp_path / "exact", ("I see a cat", "a a"), "b b b b b b b")
    assert domain.doubts_of(shown, exact) == [], "no sentence is doubted whose length was trained"
    shorter = own_pairs(tmp_path / "shorter", ("two old cats", "a"), "b b b b b b b")
    said = "The sentence has 4 words; the longest in training had 3."
    assert domain.doubts_of(shown, shorter) == ["Do not trust the answer.", said]
    longer = own_pairs(tmp_path / "longer", ("I see a red cat", "a a a a a a"), "b")
    said = "The sentence has 4 words; the shortest in training had 5."
    assert domain.doubts_of(shown, longer) == ["Do not trust the answer.", said]
    letters = longer | {"data": {"tokenizer": "characters"}}
    said = "The sentence has 16 tokens; the longest in training had 15."
    assert domain.doubts_of(shown, letters) == ["Do not trust the answer.", said]
    more = own_pairs(tmp_path / "more", ("a",), "b", added_data=[{"file": "more.tsv"}])
    assert domain.doubts_of(shown, more) == domain.doubts_of(shown, longer | {"init": "reverse"}) == []


def test_unknown_words_that_are_known_in_small_letters_are_named() -> None:
    summary = translator("phrases-en-de").loaded.summary
    said = " ".join(domain.doubts_of(translated("phrases-en-de", "I am THE Dog, Zebra."), summary))
    assert "“THE”, “Dog”" in said
    assert said.endswith("It knows “the” and “dog” in small letters.")
    said = " ".join(domain.doubts_of(translated("phrases-en-de", "THE Dog A CAT Are Big"), summary))
    assert "“THE”, “Dog”, “A”, “CAT” and 2 more never occurred" in said
    assert "It knows “the”, “dog”, “a”, “cat” and 2 more in small letters." in said, "none is missing without a word"
    for text in ("I am the zebra.", "I am a Zebra.", "I am the dog."):
        assert "small letters" not in " ".join(domain.doubts_of(translated("phrases-en-de", text), summary))


PARLIAMENT = "The parliament adopted the resolution on fiscal policy yesterday."
CORPUS = CHECKPOINTS.parents[1] / "shared" / "multi30k"


@cache
def translator(name: str) -> Translator:
    return Translator(load_model(CHECKPOINTS / name))


def task_of(name: str) -> Task:
    return get_task(str(translator(name).loaded.summary["task"]))


def translated(name: str, text: str) -> Translation:
    return translator(name).translate(text, DecodeConfig())


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
        ("multi30k-en-de", "Zwei kleine Kinder spielen im Park Fußball.", "only {confidence:.0f}"),
        ("multi30k-en-de", PARLIAMENT, "“parliament”"),
        ("multi30k-en-de", "The teacher explained the theorem.", "“teacher”, “explained” and “theorem” in pieces"),
        ("multi30k-en-de", "I missed the train.", "the sentence is short, the model gave only {confidence:.0f}"),
        ("multi30k-en-de", "A dog runs and " * 10, "The sentence has 40 words; the longest in training had 37."),
        ("adjective-swap", "I read red cats", "“cats” never occurred in training"),
        ("adjective-swap", "The central bank raised rates", "“The”, “central”, “bank”, “raised” and 1 more never"),
        ("adjective-swap", "I read red", "It is none of the 591 sentences of its task"),
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
