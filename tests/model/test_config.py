import dataclasses
import math
import re
from typing import Any

import pytest

from model.config import (
    ATTENTION_KINDS,
    EOS,
    FORMER_NAMES,
    PAD,
    SOS,
    SPECIALS,
    UNK,
    ConfigError,
    DataConfig,
    DecodeConfig,
    ModelConfig,
    TrainConfig,
    from_dict,
    parse_value,
    to_dict,
    with_current_names,
    with_former_names,
)
from model.nearest import nearest

CLASSES = (ModelConfig, DataConfig, TrainConfig, DecodeConfig)
ONE_HEAD = {"n_encoder_heads": 1, "n_decoder_heads": 1}
FOUR_HEADS = {"n_encoder_heads": 4, "n_decoder_heads": 4}


@pytest.mark.parametrize("cls", CLASSES)
def test_every_setting_explains_itself(cls: type) -> None:
    for field in dataclasses.fields(cls):
        assert field.metadata.get("help"), f"{cls.__name__}.{field.name} has no help text"


@pytest.mark.parametrize(
    ("cls", "values", "says"),
    [
        (ModelConfig, {"d_modle": 64}, "Did you mean 'd_model'"),
        (TrainConfig, {"xyzzy": 1}, "most similar of"),
        (ModelConfig, {"d_model": "64"}, "d_model must be of type int"),
        (ModelConfig, {"d_model": True}, "d_model must be of type int"),
        (ModelConfig, {"norm_first": 1}, "norm_first must be of type bool"),
        (ModelConfig, {"positions": "rotary"}, "sinusoidal, learned, rope, alibi, relative, none"),
        (ModelConfig, {"positions": ["none"]}, "positions is one of"),
        (ModelConfig, {"dropout": "0.1"}, "dropout must be of type float"),
        (ModelConfig, {"d_model": 0}, "at least 1"),
        (ModelConfig, {"dropout": 1.0}, "below 1"),
        (ModelConfig, {"dropout": -0.1}, "at least 0"),
        (ModelConfig, {"dropout": math.nan}, "dropout"),
        (ModelConfig, {"d_model": 30, "n_encoder_heads": 4}, "divides d_model"),
        (ModelConfig, {"d_model": 30, "n_encoder_heads": 3, "n_decoder_heads": 4}, "n_decoder_heads=4"),
        (ModelConfig, {"d_model": 9, "n_encoder_heads": 3, "n_decoder_heads": 3}, "odd"),
        (ModelConfig, {"architecture": "lstm", "positions": "none", "d_model": 9, **ONE_HEAD}, "each direction"),
        (ModelConfig, {"share_embeddings": "all", "src_vocab_size": 5, "tgt_vocab_size": 6}, "one vocabulary"),
        (ModelConfig, {"positions": "relative", "relative_distance": 16}, "larger than half of relative_buckets=32"),
        (ModelConfig, {"d_model": 20, **FOUR_HEADS, "positions": "rope"}, "even multiple of the numbers of heads"),
        (TrainConfig, {"learning_rate": 0.0}, "above 0"),
        (TrainConfig, {"learning_rate": math.nan}, "learning_rate"),
        (TrainConfig, {"learning_rate": math.inf}, "learning_rate"),
        (TrainConfig, {"clip_norm": math.nan}, "clip_norm"),
        (TrainConfig, {"consistency_weight": -1.0}, "consistency_weight=-1.0 must be at least 0"),
        (TrainConfig, {"consistency_weight": math.inf}, "consistency_weight=inf must be a number of at most"),
        (TrainConfig, {"average": 2, "average_checkpoints": 2}, "average is the former name of average_checkpoints"),
        (TrainConfig, {"schedule": ["warmup"]}, "schedule is one of inverse_sqrt"),
        (ModelConfig, {"average": 2}, "unknown setting 'average'"),
        (DecodeConfig, {"temperature": 0.0}, "method=greedy"),
        (DecodeConfig, {"temperature": math.nan}, "temperature"),
        (DecodeConfig, {"top_p": 0.0}, "top_p"),
        (DecodeConfig, {"top_p": 1.5}, "top_p"),
        (DecodeConfig, {"beam_size": 0}, "beam_size"),
        (DecodeConfig, {"alpha": math.nan}, "alpha"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_message(cls: type, values: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        from_dict(cls, values)


FORMER = {"batch_tokens": 64, "accumulate": 3, "average": 2, "schedule": "warmup", "max_steps": 9}
CURRENT = TrainConfig(
    max_tokens=64, gradient_accumulation_steps=3, average_checkpoints=2, schedule="inverse_sqrt", max_steps=9
)


def test_settings_are_read_under_their_former_names_and_written_under_their_current_ones() -> None:
    assert from_dict(TrainConfig, FORMER) == CURRENT
    assert set(FORMER_NAMES.values()).isdisjoint(to_dict(CURRENT))
    assert with_current_names(FORMER).items() <= to_dict(CURRENT).items()
    assert with_former_names(with_current_names(FORMER)) == FORMER


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("d_model", "wide", "whole number"),
        ("d_model", "64.5", "whole number"),
        ("dropout", "half", "number"),
        ("norm_first", "maybe", "true or false"),
        ("positions", "rotary", "sinusoidal, learned, rope, alibi, relative, none"),
    ],
)
def test_typing_errors_are_named(key: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_value(ModelConfig, key, text)


def test_what_follows_from_settings() -> None:
    """Depth and heads by kind of attention; the limit of a translation from the source and the model."""
    config = ModelConfig(n_encoder_layers=1, n_decoder_layers=3, n_encoder_heads=2, n_decoder_heads=8)
    assert [config.n_layers(kind) for kind in ATTENTION_KINDS] == [1, 3, 3]
    assert [config.n_heads(kind) for kind in ATTENTION_KINDS] == [2, 8, 8]
    assert DecodeConfig().length_limit(6, 256) == 22
    assert DecodeConfig().length_limit(200, 256) == 256
    assert DecodeConfig(max_length=5).length_limit(6, 256) == 5
    assert DecodeConfig(max_length=500).length_limit(6, 256) == 256
    assert [SPECIALS[i] for i in (PAD, SOS, EOS, UNK)] == ["<pad>", "<sos>", "<eos>", "<unk>"]
    assert from_dict(TrainConfig, {"clip_norm": 5}).clip_norm == 5, "a whole number serves where a fraction is asked"


def test_nearest_names_one_or_all_or_a_few_of_many() -> None:
    assert str(nearest("revrse", ["reverse", "copy"])) == "Did you mean 'reverse'?"
    assert "copy, reverse" in str(nearest("xyzzy", ["reverse", "copy"]))
    assert str(nearest("reverse", [])) == "It may have been deleted."
    settings = [setting.name for cls in (ModelConfig, TrainConfig) for setting in dataclasses.fields(cls)]
    assert str(nearest("lr", settings)) == "Did you mean 'learning_rate'?"
    assert str(nearest("heads", settings)) == "Did you mean 'key_value_heads', 'n_decoder_heads' or 'n_encoder_heads'?"
    assert re.fullmatch(rf"The most similar of {len(settings)} are \w+, \w+, \w+\.", str(nearest("xyzzy", settings)))
