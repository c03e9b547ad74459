"""`python -m explorer`: start Headlight and open it."""

from __future__ import annotations

import sys

from explorer.launch.start import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
