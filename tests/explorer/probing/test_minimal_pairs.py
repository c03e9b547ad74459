"""The sentence that is proposed beside another one: one word is another of its kind, and one word of the answer."""

import pytest

from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Translator
from explorer.probing.minimal_pairs import other_to_compare, others_of, suggested_other
from explorer.probing.sample import task_of
from explorer.probing.syntax import word_class
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.data import Example, Task
from tests.paths import CHECKPOINTS

ENGLISH = (
    "Two young children are playing football in the park.",
    "A man in a hat and a woman in a dress are dancing.",
    "The old man reads a newspaper on a bench in front of the church.",
    "A woman is cooking dinner in the kitchen.",
)
GERMAN = (
    "Ein Mann mit einem roten Hut liest eine Zeitung.",
    "Ein junges Mädchen in einem roten Mantel füttert Vögel im Park.",
    "Drei Personen sitzen an einem Tisch vor einem Restaurant.",
)
SWAP = ("they read red cars", "we eat small cars")


@pytest.mark.parametrize(
    ("name", "sentences"), [("multi30k-en-de", ENGLISH), ("multi30k-de-en", GERMAN), ("adjective-swap", SWAP)]
)
def test_one_word_is_replaced_by_one_of_its_kind(name: str, sentences: tuple[str, ...]) -> None:
    loaded = load_model(CHECKPOINTS / name)
    translator = Translator(loaded)
    lang = loaded.source.lang
    for sentence in sentences:
        translation = translator.translate(sentence, DecodeConfig())
        proposed = suggested_other(loaded, translation)
        words = sentence.rstrip(".").split(), proposed.rstrip(".").split()
        assert len(words[0]) == len(words[1])
        ((word, other),) = ((a, b) for a, b in zip(*words, strict=True) if a != b)
        assert word[0].isupper() == other[0].isupper(), "“are” does not become “Black”"
        assert word_class(word, lang) == word_class(other, lang)
        assert lang == "en" or word[-2:] == other[-2:], "the endings agree"
        answers = translation.text.split(), translator.translate(proposed, DecodeConfig()).text.split()
        assert sum(a != b for a, b in zip(*answers, strict=True)) == 1


def test_no_sentence_is_proposed_if_no_word_is_alike() -> None:
    loaded = load_model(CHECKPOINTS / "multi30k-en-de")
    text = "Zyxwv"
    pieces = loaded.source.encode(text)
    assert len(pieces.ids) > 1
    assert not others_of(loaded, pieces.ids), "no part of a word is replaced"
    assert suggested_other(loaded, Translator(loaded).translate(text, DecodeConfig())) == text


def test_words_of_a_small_task_stand_where_its_data_has_them() -> None:
    loaded = load_model(CHECKPOINTS / "adjective-swap")
    ids = loaded.source.encode("they read red cars").ids
    others = {loaded.source.decode(other) for other in others_of(loaded, ids)}
    assert {"they read big cars", "they read red books"} <= others
    assert "they read red buys" not in others


PHRASES = "I am a student", "I am tired", "the big dog sleeps"
AS_LONG = {"phrases-en-de": 1, "adjective-swap": 3, "reverse": 2, "reverse-lstm": 1, "multi30k-en-de": 2}


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("phrases-en-de", PHRASES),
        ("adjective-swap", ("I read red books", "We eat green apples", "She sees small houses")),
        ("reverse", ("headlight", "attention")),
        ("reverse-lstm", ("headlight",)),
        ("multi30k-en-de", ENGLISH[::3]),
    ],
)
def test_every_model_proposes_a_sentence_to_compare_with(name: str, sentences: tuple[str, ...]) -> None:
    """Its answer has as many tokens where a proposal has one, and a weight differs by what is framed."""
    loaded = load_model(CHECKPOINTS / name)
    translator, at = Translator(loaded), Place("cross", loaded.model_config.n_decoder_layers, 0)
    task = task_of(loaded)
    examples = [example.source for example in task.examples] if task else []
    as_long = 0
    for sentence in sentences:
        translation = translator.translate(sentence, DecodeConfig())
        proposed = other_to_compare(translator, translation, at, examples)
        other = translator.translate(proposed, DecodeConfig())
        assert proposed.lower() != sentence.lower(), "another capital is no other sentence"
        assert other.source.ids != translation.source.ids
        if name == "phrases-en-de":
            assert len(other.source.ids) == len(translation.source.ids)
            assert proposed in {loaded.source.decode(loaded.source.encode(each.source).ids) for each in train(task)}
        as_long += len(other.path) == len(translation.path)
        if name not in ("phrases-en-de", "reverse-lstm"):
            maps = [each.trace.weights("cross")[-1].mean(axis=0) for each in (translation, other)]
            assert abs(maps[1] - maps[0]).max() >= 0.2
    assert as_long >= AS_LONG[name]


def train(task: Task | None) -> list[Example]:
    assert task
    return list(task.splits["train"])


def test_without_anything_to_propose_the_sentence_itself_is_returned() -> None:
    loaded = load_model(CHECKPOINTS / "reverse-lstm")
    translator = Translator(loaded)
    translation = translator.translate("headlight", DecodeConfig())
    assert other_to_compare(translator, translation, Place("cross", 1, 1), ["Headlight"]) == "headlight"
