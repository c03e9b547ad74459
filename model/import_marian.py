"""The former name of `python -m model.import_translator`."""

from __future__ import annotations

from model.commands import run_command
from model.import_translator import main

__all__ = ["main"]

if __name__ == "__main__":
    run_command(main)
