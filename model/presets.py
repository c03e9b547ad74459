"""Named model sizes and training settings; `--set` and the Train page override individual fields."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.config import ConfigError
from model.nearest import nearest


@dataclass(frozen=True)
class Preset:
    """The values of ModelConfig and TrainConfig that differ from their defaults."""

    name: str
    title: str
    model: Mapping[str, Any]
    training: Mapping[str, Any]


PRESETS: dict[str, Preset] = {}
for _name, _own in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items():
    _like = PRESETS.get(_own.get("like", ""), Preset("", "", {}, {}))
    _model, _training = {**_like.model, **_own.get("model", {})}, {**_like.training, **_own.get("training", {})}
    PRESETS[_name] = Preset(_name, _own["title"], _model, _training)


def get_preset(name: str) -> Preset:
    """The preset of this name; a ConfigError names the nearest if there is none."""
    if name not in PRESETS:
        raise ConfigError("there is no preset '{name}'. {nearest}", name=name, nearest=nearest(name, PRESETS))
    return PRESETS[name]
