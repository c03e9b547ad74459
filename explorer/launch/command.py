"""`headlight` and `python -m explorer`: start the app, or run one of the other commands by its name."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from typing import NoReturn

from explorer.launch.options import parse
from explorer.runs.home import INSTALLED, ROOT
from model.commands import SUBCOMMANDS, fail

_OWN_FOLDERS = ("experiments", "reproduce")
"""Commands that train in folders of their own."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the command and exit with its code; an error is one sentence on standard error and code 2."""
    name, given = (arguments[0], arguments[1:]) if arguments else ("", [])
    try:
        if name not in SUBCOMMANDS:
            options = parse(arguments)
            from explorer.launch.start import run  # the help needs no library

            sys.exit(run(options))
        _run_subcommand(name, given)
    except ModuleNotFoundError as missing:
        library = (missing.name or "").partition(".")[0]
        if library in ("", "explorer", "model"):  # a mistake of ours keeps its traceback
            raise
        advice = "install Headlight without --no-deps" if INSTALLED else "python -m pip install -r requirements.txt"
        fail(f"Headlight needs the library '{library}', which is not installed: {advice}.")
    sys.exit(0)


def _run_subcommand(name: str, given: Sequence[str]) -> None:
    asks_for_help = not {"-h", "--help"}.isdisjoint(given)
    if name not in _OWN_FOLDERS and not asks_for_help:
        from explorer.launch.models_folder import with_models_folder

        given = with_models_folder(given)
    sys.argv = [sys.argv[0], *given]
    # For the processes that training starts.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    runpy.run_module(SUBCOMMANDS[name].module, run_name="__main__", alter_sys=True)
