"""Write web pages that translate without a server: `python -m explorer.site FOLDER`."""

from __future__ import annotations

from explorer.site.command import main
from model.commands import run_command

if __name__ == "__main__":
    run_command(main)
