"""The command `headlight` of an installed Headlight: the app, or one of the model's commands by its name."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

_APP = Path(__file__).resolve().parent / "_app"


def main() -> None:
    """Run `headlight …`, `headlight train …`, `headlight translate …`."""
    arguments = sys.argv[1:]
    # Before the working folder and everything installed: a `model.py` there must not be taken for ours.
    sys.path.insert(0, str(_APP))
    from model.commands import SUBCOMMANDS

    if not arguments or arguments[0] not in SUBCOMMANDS:
        from explorer.launch.start import run

        sys.exit(run(arguments))
    from explorer.launch.models_folder import with_models_folder

    module, given = SUBCOMMANDS[arguments[0]], arguments[1:]
    # Experiments train in folders of their own.
    sys.argv = [sys.argv[0], *(given if module == "model.experiments" else with_models_folder(given))]
    # For the processes that training starts.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_APP), os.environ.get("PYTHONPATH")]))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
