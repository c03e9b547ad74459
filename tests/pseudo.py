"""A pack in no language: every message accented and a third longer, so that what is English was not translated."""

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from explorer.locale.catalogue import TEMPLATE, messages_of, read_po

CODE = "eo"  # a code that libraries know, for a language that no pack of ours has
_ACCENTED = str.maketrans("aeiouyncszAEIOUYNCSZ", "àéîöúýñçšžÀÉÎÖÚÝÑÇŠŽ")
# Fields, code, HTML, addresses and symbols stay as they are.
_KEPT = re.compile(r"(\{[^{}]*\}|`[^`]*`|<[^<>]*>|\]\([^)]*\)|:[a-z]+(?:/[a-z_]+:|(?=\[))|https?://\S+)")


def pseudo(message: str) -> str:
    """Accent a message and lengthen it; the fields and the markup stay."""
    parts = _KEPT.split(message)
    text = "".join(part if i % 2 else part.translate(_ACCENTED) for i, part in enumerate(parts))
    return f"{text} {'ĝ' * max(1, len(message) // 3 - 1)}" if message.strip() else message


def write_pack(folder: Path) -> None:
    """Write the pack into a folder for HEADLIGHT_LOCALES."""
    catalog = Catalog(locale=CODE, charset="utf-8", fuzzy=False)
    for message, several in messages_of(read_po(TEMPLATE)):
        if several is None:
            catalog.add(message, pseudo(message))
        else:
            catalog.add((message, several), tuple(pseudo(form) for form in (message, several)))
    with (folder / f"{CODE}.po").open("wb") as file:
        write_po(file, catalog)
