"""Collect the messages of the interface for translators, and check language packs: `python -m explorer.collecting`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from explorer.collecting.sources import all_messages
from explorer.locale.catalogue import FOLDER, TEMPLATE, PackError, messages_of, pack, problems, read_po

HEADER = """\
# The messages of Headlight, written by `python -m explorer.collecting`. Fields in {braces} and markup stay as they are.
#"""


def template() -> Catalog:
    """All messages, each with the files that it stands in."""
    catalog = Catalog(project="Headlight", header_comment=HEADER, charset="utf-8")
    for found in all_messages():
        text = (found.message, found.several) if found.several else found.message
        catalog.add(text, locations=[(found.file, 0)])
    return catalog


def write(catalog: Catalog, path: Path) -> None:
    """Write a gettext file without dates or line numbers, which would change with every run."""
    with path.open("wb") as file:
        write_po(file, catalog, width=110, omit_header=False, include_lineno=False)


def main(arguments: list[str]) -> int:
    """Renew the template and the packs, or check them."""
    parser = argparse.ArgumentParser(
        prog="python -m explorer.collecting", description=(__doc__ or "").partition(":")[0]
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    options = parser.parse_args(arguments)
    messages = template()
    if options.check:
        stale = set(messages_of(messages)) ^ set(messages_of(read_po(TEMPLATE)))
        if stale:
            print(f"{TEMPLATE.name} is not up to date: run python -m explorer.collecting.", file=sys.stderr)
            return 1
    else:
        write(messages, TEMPLATE)
        for path in sorted(FOLDER.glob("*.po")):
            renew(path, messages)
    for path in sorted(FOLDER.glob("*.po")):
        print(f"{path.stem}: {pack(path.stem).share:.1%} of {len(list(messages_of(messages))):,} messages")
    for problem in problems():
        print(problem, file=sys.stderr)
    return int(bool(problems()))


def renew(path: Path, messages: Catalog) -> None:
    """Give a pack the messages of today: new ones are empty, and those that are gone are dropped."""
    catalog = read_po(path)
    catalog.locale = path.stem.replace("-", "_")
    catalog.update(messages, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    write(catalog, path)


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except PackError as error:
        raise SystemExit(str(error)) from error
