"""Training in two parts by one command: a first model, then the requested one from its weights.

The first model's config.json stores under "then" what the second part needs. Whichever part was stopped, `--resume`
with either name continues to the end, and arrives at the same weights as an uninterrupted command.
"""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from model.config import ConfigError, TrainConfig
from model.folder import CONFIG, CheckpointError, check_name, read_config
from model.training.runfolder import refuse_running
from model.training.settings import parse_assignments

SUFFIX = "-first"
THEN = "then"
_KEPT = ("task", "name", "preset", "set", "first")
_RUNTIME = ("precision", "compile", "threads")
_MAY_DIFFER = {*(field.name for field in fields(TrainConfig)), "dropout", "attention_dropout", "activation_dropout"}


def first_part(options: Namespace) -> Namespace:
    """The options of the first part: those of the second, with the settings of `--first` on top.

    Raises:
        CheckpointError: the name of the first model would be invalid.
        ConfigError: the second part could not start from its weights and tokenizers.
    """
    for key in parse_assignments(options.first):
        if key not in _MAY_DIFFER:
            raise ConfigError(f"--first cannot set {key}: both parts train the same model on the same data.")
    changes = {
        "name": check_name(options.name + SUFFIX),
        "set": [*options.set, *options.first],
        "first": [],
        "then": {key: getattr(options, key) for key in _KEPT},
    }
    return Namespace(**{**vars(options), **changes})


def second_part(options: Namespace, first: str, extra: Mapping[str, Any]) -> Namespace:
    """The options of the second part, from the command and from the first model's folder.

    `extra` is that folder's configuration apart from model, data and training. Device, precision, compilation and
    threads are those of the first part unless the command sets them.

    Raises:
        CheckpointError: the folder does not say what comes after it.
    """
    then = extra.get(THEN)
    if not isinstance(then, dict) or set(then) != set(_KEPT):
        raise CheckpointError(f"'{first}' does not say what comes after it: '{THEN}' in its {CONFIG} is damaged.")
    runtime = extra.get("runtime") or {}
    said = {key: getattr(options, key) or runtime.get(key) for key in _RUNTIME}
    said["device"] = options.device or str(runtime.get("device", "auto")).partition(":")[0]
    changes = {**then, **said, "init": first, "resume": None, "overwrite": False, "then": None}
    if then["task"] == "files":
        changes["own_from"] = options.checkpoints / first
    return Namespace(**{**vars(options), **changes})


def find_first(checkpoints: Path, name: str) -> str:
    """The model to resume for `name`: itself, or its first part if the second has not started."""
    first = name + SUFFIX
    if not (checkpoints / name).exists() and (checkpoints / first / CONFIG).is_file():
        then = read_config(checkpoints / first).get(THEN)
        if isinstance(then, dict) and then.get("name") == name:
            return first
    return name


def forget_model(folder: Path) -> None:
    """Delete what `--overwrite` replaces, so that the second part does not resume from it.

    Raises:
        CheckpointError: its run is active.
    """
    if folder.exists():
        refuse_running(folder)
        shutil.rmtree(folder)
