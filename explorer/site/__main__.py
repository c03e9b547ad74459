"""Write example translations as web pages that need no server: `python -m explorer.site FOLDER`."""

from __future__ import annotations

from explorer.files.site import main
from model.commands import run_command

if __name__ == "__main__":
    run_command(main)
