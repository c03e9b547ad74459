"""The model's commands in an installed Headlight: they use the same folder of models as the app."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.launch.models_folder import models_folder
from explorer.launch.options import LaunchError
from model.commands import fail


def with_models_folder(arguments: Sequence[str]) -> list[str]:
    """The arguments with `--checkpoints` added, unless they name a folder; what is wrong is one sentence, code 2."""
    if any(argument.partition("=")[0] == "--checkpoints" for argument in arguments):
        return list(arguments)
    try:
        return ["--checkpoints", str(models_folder()), *arguments]
    except LaunchError as error:
        fail(str(error))
