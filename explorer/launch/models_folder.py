"""Which folder of models a start uses. An installed Headlight keeps a person's models in their data folder."""

from __future__ import annotations

import filecmp
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_data_path

from explorer.launch.options import LaunchError
from explorer.runs.home import INSTALLED, ROOT
from model.commands import fail
from model.folder import SHIPPED, real_path, replace_file

VARIABLE = "HEADLIGHT_CHECKPOINTS"


def models_folder(asked: Path | None = None, *, installed: bool = INSTALLED) -> Path:
    """The folder of models: the one asked for, that of HEADLIGHT_CHECKPOINTS, or the usual one.

    The usual one is checkpoints/ in a clone. An installed Headlight uses the user's data folder and puts the models
    that came with it there, too, so that every page and command finds all models in one place.

    Raises:
        LaunchError: the folder that was asked for does not exist, or the data folder cannot be written.
    """
    named = asked or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if named is not None:
        if not named.is_dir():
            raise LaunchError("There is no folder {named} for models; create it, or name another one.", named=named)
        return real_path(named)
    if not installed:
        return ROOT / "checkpoints"
    folder = user_data_path("headlight", appauthor=False) / "checkpoints"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in SHIPPED:
            _bring(ROOT / "checkpoints" / name, folder / name)
    except OSError as error:
        raise LaunchError(
            "Your models belong in {folder}, which cannot be written ({reason}); "
            "name another folder with --checkpoints.",
            folder=folder,
            reason=error.strerror or error,
        ) from None
    return folder


def with_models_folder(arguments: Sequence[str]) -> list[str]:
    """The arguments of a command with `--checkpoints` added, unless they name a folder.

    The model's commands in an installed Headlight use the same folder as the app. An error is one sentence and code 2.
    """
    if any(argument.partition("=")[0] == "--checkpoints" for argument in arguments):
        return list(arguments)
    try:
        return ["--checkpoints", str(models_folder()), *arguments]
    except LaunchError as error:
        fail(str(error))


def _bring(source: Path, target: Path) -> None:
    """Copy what is missing or different in `target`; readers see an old or a new file, never half of one."""
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        copy = target / path.name
        if path.is_dir():
            _bring(path, copy)
        elif not copy.is_file() or not filecmp.cmp(path, copy, shallow=False):
            draft = target / f".{path.name}.{secrets.token_hex(4)}.tmp"
            try:
                shutil.copy2(path, draft)
                replace_file(draft, copy)
            finally:
                draft.unlink(missing_ok=True)
