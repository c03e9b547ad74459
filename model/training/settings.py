"""Build complete configurations from a task, a preset and `key=value` arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from model.config import (
    ConfigError,
    DataConfig,
    ModelConfig,
    TrainConfig,
    from_dict,
    parse_value,
    to_dict,
    with_current_names,
)
from model.nearest import nearest
from model.presets import Preset
from model.wording import message

GIVEN_ELSEWHERE = {
    "src_vocab_size": message("{key} cannot be set: it is counted from the data."),
    "tgt_vocab_size": message("{key} cannot be set: it is counted from the data."),
    "task": message("{key} cannot be set: use --task."),
}
TOKEN_FIELDS = ("tokenizer", "lowercase", "min_frequency", "vocab_size")


@dataclass(frozen=True)
class Settings:
    """The three configurations of a run; vocabulary sizes are 0 until the tokenizers are built."""

    model: ModelConfig
    data: DataConfig
    training: TrainConfig


def parse_assignments(words: Iterable[str]) -> dict[str, str]:
    """Parse `key=value` words into a dictionary, under current names; a later word wins.

    Raises:
        ConfigError: a word without '=', or a key that no configuration has (the message names the nearest).
    """
    names = {field.name for cls in (ModelConfig, DataConfig, TrainConfig) for field in dataclasses.fields(cls)}
    pairs: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ConfigError("--set takes key=value, such as d_model=64, not '{word}'.", word=word)
        [(key, value)] = with_current_names({key: value}).items()
        if key not in names:
            raise ConfigError("unknown setting '{key}'. {nearest}", key=key, nearest=nearest(key, names))
        if key in GIVEN_ELSEWHERE:
            raise ConfigError(GIVEN_ELSEWHERE[key], key=key)
        pairs[key] = value
    return pairs


def make_settings(data: DataConfig, preset: Preset, assignments: Mapping[str, str]) -> Settings:
    """Settings from the defaults, the task's data settings, the preset and the assignments, in increasing priority.

    Raises:
        ConfigError: a value of the wrong type or out of range.
    """
    return Settings(
        model=from_dict(ModelConfig, {**preset.model, **parsed(ModelConfig, assignments)}),
        data=from_dict(DataConfig, {**to_dict(data), **parsed(DataConfig, assignments)}),
        training=from_dict(TrainConfig, {**preset.training, **parsed(TrainConfig, assignments)}),
    )


def settings_after(
    name: str, model: ModelConfig, data: DataConfig, settings: Settings, assignments: Mapping[str, str]
) -> Settings:
    """Settings of a run that starts from the weights and tokenizers of the model `name`, configured by `model`, `data`.

    Sizes and tokenization are those of that model; other assignments apply.

    Raises:
        ConfigError: the assignments ask for another tokenization, or for impossible sizes.
    """
    tokens = {field: getattr(data, field) for field in TOKEN_FIELDS}
    for field, value in parsed(DataConfig, assignments).items():
        if field in tokens and value != tokens[field]:
            raise ConfigError(
                "{field}={value} does not fit --init {name}, whose tokenizers have {tokens}.",
                field=field,
                value=value,
                name=name,
                tokens=tokens[field],
            )
    return dataclasses.replace(
        settings,
        model=from_dict(ModelConfig, {**to_dict(model), **parsed(ModelConfig, assignments)}),
        data=dataclasses.replace(settings.data, **tokens),
    )


def parsed(cls: Any, assignments: Mapping[str, str]) -> dict[str, Any]:
    """The values of those assignments that are fields of a configuration class."""
    names = {field.name for field in dataclasses.fields(cls)}
    return {key: parse_value(cls, key, text) for key, text in assignments.items() if key in names}
