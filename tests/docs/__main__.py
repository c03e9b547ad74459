"""Renew the documentation: `python -m tests.docs [--pictures]`."""

import argparse
import sys
from collections.abc import Sequence

from tests.docs.generated import documents, renewed


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.docs", description="Renew the documentation.")
    parser.add_argument("--pictures", action="store_true", help="take the pictures of the app again, in a browser")
    options = parser.parse_args(arguments)
    for path in documents():
        text = path.read_text(encoding="utf-8")
        if (new := renewed(text)) != text:
            path.write_text(new, encoding="utf-8")
            print(f"{path.name} is renewed.")
    if options.pictures:
        from tests.docs.pictures import take_all

        take_all()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
