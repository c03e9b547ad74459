"""What is proposed for a person's own pairs, on data whose right tokens are known."""

import random
from dataclasses import replace
from typing import Any

import pytest

from model.config import DataConfig, ModelConfig, TrainConfig
from model.data.files import LARGE, Pairs, split_pairs
from model.data.number_words import number_words
from model.data.proposal import Proposal, are_sentences, larger, pieces_for, problem_with, propose, unspellable_sentence
from model.data.task import Example
from model.presets import PRESETS
from tests import own_data

CONFIG = DataConfig(task="files", src_lang="xx", tgt_lang="xx")


def proposal_for(pairs: own_data.Pairs) -> Proposal:
    return propose(split_pairs(Pairs(tuple(Example(*pair) for pair in pairs), {}, "1", "2")), CONFIG)


def new_words(n: int) -> own_data.Pairs:
    """Sentences with a word that occurs in no other."""
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefghij", k=9)) for _ in range(n)]
    return [(f"this is the long story of {name}", f"here we tell the story of {name}") for name in names]


@pytest.mark.parametrize(
    ("pairs", "kind", "reason"),
    [
        (number_words(), "characters", "every held-out answer has a word that never occurs"),
        (own_data.word_reversal(), "characters", "short enough to be written letter by letter"),
        (own_data.sentence_pairs(600), "words", "spell every validation answer"),
        (new_words(200), "subwords", "pieces can write any text"),
        ([(f"{n} 的 数", f"{n * 7919}") for n in range(90)], "characters", "letter by letter"),
    ],
    ids=["numbers", "reversal", "grammar", "names", "digits"],
)
def test_the_tokens_follow_from_the_data(pairs: own_data.Pairs, kind: str, reason: str) -> None:
    proposal = proposal_for(pairs)
    assert proposal.data.tokenizer == kind
    assert reason in proposal.reason
    assert proposal.reason.count(".") == 1, "one sentence"
    found = proposal.of(kind)
    assert found is not None
    assert found.unspellable <= 0.02


def test_a_single_validation_answer_is_not_called_every_one() -> None:
    pairs = tuple(Example(*pair) for pair in own_data.sentence_pairs(600))
    splits = {"train": pairs[1:], "valid": pairs[:1], "test": pairs[:1]}
    assert "spell the only validation answer." in propose(splits, CONFIG).reason


@pytest.mark.parametrize(
    ("model", "share", "changes"),
    [
        ({}, 0.7, {"d_model": 128, "d_ff": 256}),
        ({}, 0.2, {"d_model": 128, "d_ff": 256, "n_encoder_layers": 3, "n_decoder_layers": 3}),
        ({"max_positions": 320}, 0.7, {"d_model": 128, "d_ff": 256, "n_encoder_layers": 3, "n_decoder_layers": 3}),
        ({"tgt_vocab_size": 5000}, 0.7, {"d_model": 256, "d_ff": 512, "learning_rate": 0.002}),
        ({"architecture": "lstm"}, 0.2, {"d_model": 128, "d_ff": 256}),
        ({"d_model": 512, "d_ff": 1024}, 0.7, {"d_model": 512, "d_ff": 1024, "learning_rate": 0.004}),
    ],
)
def test_a_larger_model_follows_from_vocabulary_lengths_and_the_score(
    model: dict[str, Any], share: float, changes: dict[str, Any]
) -> None:
    sizes = {"src_vocab_size": 40, "tgt_vocab_size": 40, "d_model": 64, "d_ff": 128, "max_positions": 128}
    training = TrainConfig(learning_rate=0.004, max_steps=750)
    found = larger(ModelConfig(**(sizes | model)), training, share)
    assert found == {"learning_rate": 0.0028, "max_steps": 1500} | changes


def test_what_cannot_be_spelled_is_counted_beforehand() -> None:
    words = proposal_for(number_words()).of("words")
    assert words is not None
    assert (words.unspellable, words.unread) == (1.0, 0.0)
    assert unspellable_sentence(words) == (
        "30 of 30 held-out answers cannot be spelled with these tokens, which lack “769”, and every source can be read."
    )
    single = unspellable_sentence(replace(words, held_out=1, unread=1.0, unread_example=("z", "zero")))
    assert single == (
        "The only held-out answer cannot be spelled with these tokens, which lack “769”; 1 source holds at "
        "least one unknown token, the first “z” in “zero”."
    )
    assert words.samples[0][1].unknown == (True,)
    assert words.tgt_vocab_size > 250, "a token for each answer"


def test_few_held_out_pairs_are_counted_and_not_a_share() -> None:
    words = proposal_for([(f"one {n}", f"two {n if n % 5 else 77}") for n in range(33)]).of("words")
    assert words is not None
    assert words.held_out == 3
    for share, said in (
        (1 / 3, "1 of 3 held-out answers has a word that never occurs in a training answer"),
        (2 / 3, "2 of 3 held-out answers have a word that never occurs in a training answer"),
    ):
        assert problem_with(replace(words, unspellable=share)) == said
    assert problem_with(replace(words, unspellable=0, unread=1 / 3)).startswith("1 of 3 held-out sources has a word")


def test_characters_serve_a_language_without_rules_for_words_and_pieces_grow_with_the_data() -> None:
    pairs = tuple(Example(f"wort {n}", f"ein langer Satz mit Wort {n}") for n in range(40))
    splits = split_pairs(Pairs(pairs, {}, "1", "2"))
    proposal = propose(splits, DataConfig(task="files", src_lang="zz", tgt_lang="zz"))
    assert (proposal.data.tokenizer, proposal.of("words")) == ("characters", None)
    assert "no rules for words" in proposal.reason
    assert [pieces_for(n) for n in (10, 2000, 29_000)] == [500, 1000, 6000]
    assert are_sentences(["ein Satz mit Wörtern", "ja", "und noch ein Satz"])
    assert not are_sentences(["421", "ja", "drei Wörter hier"])
    assert not are_sentences([])


def test_settings_follow_from_the_data_too() -> None:
    tiny, few = PRESETS["tiny"], proposal_for(number_words())
    assert not few.sentences
    assert few.settings(tiny) == {
        "tokenizer": "characters", "dropout": "0.3", "positions": "rope", "attention_dropout": "0.3",
        "activation_dropout": "0.3", "select_by": "exact_match", "max_steps": "1300", "learning_rate": "0.008",
        "stop_when_right": "3",
    }  # fmt: skip
    everywhere = {"dropout": 0.3, "positions": "rope", "attention_dropout": 0.3, "activation_dropout": 0.3}
    assert few.adapted(tiny).model == {**tiny.model, **everywhere}
    assert few.adapted(PRESETS["small"]).training["learning_rate"] == PRESETS["small"].training["learning_rate"]
    lstm = few.settings(PRESETS["lstm-tiny"])
    assert lstm == {
        "tokenizer": "characters", "dropout": "0.3", "select_by": "exact_match", "max_steps": "1300",
        "stop_when_right": "3",
    }  # fmt: skip
    assert few.adapted(PRESETS["small"]).training["select_by"] == "exact_match"
    assert few.adapted(PRESETS["small"]).training["max_steps"] == 8000
    assert few.adapted(PRESETS["lstm-tiny"]).model["positions"] == "none"
    sentences = proposal_for(new_words(200))
    assert sentences.sentences
    assert sentences.settings(tiny)["select_by"] == "bleu"
    assert sentences.settings(tiny)["vocab_size"] == str(sentences.data.vocab_size)
    assert not {"max_steps", "learning_rate", "attention_dropout"} & sentences.settings(tiny).keys()
    large = propose({"train": (Example("a b", "c"), Example("a", "d")) * LARGE, "valid": (Example("a", "c"),)}, CONFIG)
    assert set(large.settings(tiny)) == {"tokenizer", "select_by", "stop_when_right"}
