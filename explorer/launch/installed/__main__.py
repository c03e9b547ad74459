"""The command `headlight` of an installed Headlight."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Run `headlight …`, `headlight train …`, `headlight translate …`."""
    # Before the working folder and everything installed: a `model.py` there must not be taken for ours.
    sys.path.insert(0, str(Path(__file__).resolve().parent / "_app"))
    from explorer.launch.command import main

    main(sys.argv[1:])


if __name__ == "__main__":
    main()
