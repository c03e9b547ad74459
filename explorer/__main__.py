"""`python -m explorer`: start Headlight and open it, or run a command: `python -m explorer train …`."""

from __future__ import annotations

import sys

from explorer.launch.command import main

if __name__ == "__main__":
    main(sys.argv[1:])
