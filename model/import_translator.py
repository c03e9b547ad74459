"""A former name of `python -m model.import_model`."""

from __future__ import annotations

from model.commands import run_command
from model.import_model import main

__all__ = ["main"]

if __name__ == "__main__":
    run_command(main)
