"""Runs that build on other runs: two parts by one command, `--like NAME`, and `--resume NAME --steps N`.

The first of two models stores the second part's options under "then" in its config.json. Whichever part was stopped,
`--resume` with either name continues to the end, with the same weights as an uninterrupted command.
"""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from model.commands import CommandError
from model.config import ConfigError, TrainConfig, with_current_names
from model.folder import CONFIG, CheckpointError, check_name, find_model, read_config
from model.training.runfolder import read_status, refuse_running
from model.training.settings import GIVEN_ELSEWHERE, make_settings, parse_assignments
from model.training.state import load_state

_COPIED = ("task", "preset", "first", "data", "source", "target")
EXTENDED = "extended"
"""The key in config.json of the numbers of updates to which a finished run was extended, in order."""


def like(options: Namespace) -> Namespace:
    """The options of a new run with the task, data, settings, device, precision and threads of the model `--like`.

    `--set` changes settings; `--init` starts from other weights; device, precision, threads and folders may be given.

    Raises:
        CommandError: an option contradicts `--like`. CheckpointError: there is no such model, or it was not trained
            here.
    """
    for name in _COPIED:
        if getattr(options, name):
            raise CommandError("--like takes this from {like}; leave out --{name}.", like=options.like, name=name)
    folder = find_model(options.checkpoints, options.like)
    config, status = read_config(folder), read_status(folder)
    if not isinstance(config.get("preset"), str) or not isinstance(config.get("set"), dict):
        raise CheckpointError(
            "'{like}' does not say how it was trained, so it cannot be trained again.", like=options.like
        )
    runtime = config.get("runtime") or {}
    changes: dict[str, Any] = {name: getattr(options, name) or runtime.get(name) for name in ("precision", "threads")}
    changes["device"] = options.device or str(runtime.get("device", "auto")).partition(":")[0]
    changes["compile"] = options.compile or bool(runtime.get("compile"))
    changes |= {"task": config["data"]["task"], "preset": config["preset"]}
    if changes["task"] == "files":
        changes["own_from"] = folder
    assignments = with_current_names({str(key): str(value) for key, value in config["set"].items()})
    settings = assignments | _other_settings(folder, changes["task"], config["preset"], assignments)
    changes["set"] = [*(f"{key}={value}" for key, value in settings.items()), *options.set]
    first = config.get("first")
    if isinstance(first, dict) and not options.init:
        changes["first"] = [f"{key}={value}" for key, value in first.items()]
    elif config.get("init") and not options.init:
        changes["init"] = str(config["init"])
        if not (options.checkpoints / changes["init"]).is_dir():
            raise CommandError(
                "'{like}' started from the weights of '{start}', which is not in "
                "{checkpoints}; its card names the command that makes everything, and --init NAME starts "
                "from another model.",
                like=options.like,
                start=changes["init"],
                checkpoints=options.checkpoints,
            )
    changes["data_dir"] = options.data_dir or (Path(status["data_dir"]) if status.get("data_dir") else None)
    if not options.add_data:
        changes["add_data"] = [Path(path) for path in status.get("added_data") or ()]
        changes["added_as"] = config.get("added_data") or ()
    return Namespace(**{**vars(options), **changes})


def _other_settings(folder: Path, task: str, preset: str, assignments: Mapping[str, str]) -> dict[str, str]:
    """The settings of a model that come neither from its preset nor from `--set`, such as those of a proposal."""
    from model.checkpoint import read_run
    from model.data import get_task
    from model.presets import get_preset

    run = read_run(folder)
    data = get_task(task, data_dir=folder if task == "files" else None).data
    derived = make_settings(data, get_preset(preset), assignments)
    pairs = ((run.model, derived.model), (run.data, derived.data), (run.training, derived.training))
    return {
        name: _as_text(value)
        for stored, other in pairs
        for name, value in vars(stored).items()
        if name not in GIVEN_ELSEWHERE and value != getattr(other, name)
    }


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def longer(folder: Path, steps: int) -> dict[str, Any]:
    """The configuration of a finished run that is extended to `steps` updates in all.

    Raises:
        CommandError: it has not finished, has already made as many updates, has no saved state, or is the first of two
            parts.
    """
    name, config = folder.name, read_config(folder)
    if config.get(THEN):
        raise CommandError("'{name}' is the first of two parts; train the second one longer.", name=name)
    if read_status(folder).get("state") != "finished":
        raise CommandError("'{name}' has not finished; --resume {name} without --steps does that first.", name=name)
    saved = load_state(folder)
    if saved is None:
        raise CommandError(
            "'{name}' has no saved state to continue from; --like {name} --init {name} starts a new run from its "
            "weights.",
            name=name,
        )
    done = saved[0].step
    if steps <= done:
        raise CommandError(
            "'{name}' has made {done} updates already; --steps takes a larger number.", name=name, done=done
        )
    training = {**config["training"], "max_steps": steps}
    return {**config, "training": training, EXTENDED: [*config.get(EXTENDED, ()), steps]}


SUFFIX = "-first"
THEN = "then"
_STORED = ("task", "name", "preset", "set", "first")
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
            raise ConfigError("--first cannot set {key}: both parts train the same model on the same data.", key=key)
    changes = {
        "name": check_name(options.name + SUFFIX),
        "set": [*options.set, *options.first],
        "first": [],
        "then": {key: getattr(options, key) for key in _STORED},
    }
    return Namespace(**{**vars(options), **changes})


def second_part(options: Namespace, first: str, extra: Mapping[str, Any]) -> Namespace:
    """The options of the second part, from the command and from the first model's folder.

    `extra` is that folder's configuration apart from model, data and training. Precision, compilation and threads
    are those of the first part unless the command sets them.

    Raises:
        CheckpointError: the folder does not describe the second part.
    """
    then = extra.get(THEN)
    if not isinstance(then, dict) or set(then) != set(_STORED):
        raise CheckpointError(
            "the second part of '{first}' is unknown: '{then}' in its {config} is damaged.",
            first=first,
            then=THEN,
            config=CONFIG,
        )
    runtime = extra.get("runtime") or {}
    runtime_options = {key: getattr(options, key) or runtime.get(key) for key in _RUNTIME}
    changes = {**then, **runtime_options, "init": first, "resume": None, "overwrite": False, "then": None}
    if then["task"] == "files":
        changes["own_from"] = options.checkpoints / first
    return Namespace(**{**vars(options), **changes})


def find_first(checkpoints: Path, name: str) -> str:
    """The name of the model to resume for `name`: itself, or its first part if the second has not started."""
    first = name + SUFFIX
    if not (checkpoints / name).exists() and (checkpoints / first / CONFIG).is_file():
        then = read_config(checkpoints / first).get(THEN)
        if isinstance(then, dict) and then.get("name") == name:
            return first
    return name


def forget_model(folder: Path) -> None:
    """Delete the model that `--overwrite` replaces, so that the second part does not resume from it."""
    if folder.exists():
        refuse_running(folder)
        shutil.rmtree(folder)
