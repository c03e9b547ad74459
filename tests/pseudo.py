"""A pack in no language: every message accented and a third longer, so that what is English was not translated."""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from explorer.locale.catalogue import TEMPLATE, messages_of, read_po

_FOLDER = TemporaryDirectory(prefix="headlight-")
CODE = "eo"  # a code that libraries know, for a language that no pack of ours has
_ACCENTED = str.maketrans("aeiouyncszAEIOUYNCSZ", "àéîöúýñçšžÀÉÎÖÚÝÑÇŠŽ")
# Fields, code, HTML, addresses and symbols stay as they are.
_KEPT = re.compile(r"(\{[^{}]*\}|`[^`]*`|<[^<>]*>|\]\([^)]*\)|:[a-z]+(?:/[a-z_]+:|(?=\[))|https?://\S+)")


def pseudo(message: str) -> str:
    """Accent a message and lengthen it; the fields and the markup stay."""
    parts = _KEPT.split(message)
    text = "".join(part if i % 2 else part.translate(_ACCENTED) for i, part in enumerate(parts))
    return f"{text} {'ĝ' * max(1, len(message) // 3 - 1)}" if message.strip() else message


def prefix(message: str) -> str:
    """How a message that begins so begins in the pack."""
    return pseudo(message).partition(" ĝ")[0]


@cache
def packs() -> Path:
    """A folder for HEADLIGHT_LOCALES with the pack."""
    catalog = Catalog(locale=CODE, charset="utf-8", fuzzy=False)
    for message, several in messages_of(read_po(TEMPLATE)):
        if several is None:
            catalog.add(message, pseudo(message))
        else:
            catalog.add((message, several), tuple(pseudo(form) for form in (message, several)))
    folder = Path(_FOLDER.name)
    with (folder / f"{CODE}.po").open("wb") as file:
        write_po(file, catalog)
    return folder
