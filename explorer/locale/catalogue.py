"""Language packs: gettext files (.po) by language code, checked, and read once a process.

A pack is a file `CODE.po` here, or in the folder that HEADLIGHT_LOCALES names, whose packs win. What a pack lacks, or
translates with other fields or markup, is written in English. English itself needs no pack.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from explorer.locale.language import ENGLISH
from model.user_error import UserError, readable

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FOLDER = Path(__file__).parent / "packs"
TEMPLATE = FOLDER / "messages.pot"
MAX_BYTES = 8_000_000
ENOUGH = 0.8
"""The share of translated messages from which a browser's language is used unasked."""
MACHINE = "machine translation"
"""What stands for the last translator of a pack that nobody has read over, in its header `Last-Translator`."""

Forms = str | tuple[str, ...]
"""A translation; for a message that counts, its form for each kind of number."""

# What a translation must keep: code spans, emphasis, HTML tags, the targets of links, symbols of Streamlit.
_MARKUP = re.compile(r"`|\*\*|</?[a-z]+|:[a-z]+(?:/[a-z_]+:|(?=\[))|\]\([^)\s]*\)")
_CODE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


_packs: dict[str, Pack] = {}  # as they were when files were last looked at, which is slow


class PackError(UserError):
    """A language pack that cannot be used."""


@dataclass(frozen=True, eq=False)
class Pack:
    """A language: its name in itself, direction of writing, translations by English message, and what is wrong."""

    code: str
    name: str
    direction: str = "ltr"
    messages: Mapping[str, Forms] = field(default_factory=dict)
    form: Callable[[int], int] = lambda n: int(n != 1)
    share: float = 1.0
    by_machine: bool = False
    faults: tuple[str, ...] = ()

    @property
    def is_offered(self) -> bool:
        """Whether a browser's language is used unasked: the pack is nearly complete, and somebody has read it over."""
        return self.share >= ENOUGH and not self.by_machine


def files() -> dict[str, Path]:
    """The packs' files by language code."""
    folders = [FOLDER, *([Path(extra)] if (extra := os.environ.get("HEADLIGHT_LOCALES")) else [])]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.po"))]
    return {path.stem: path for path in found if path.stem != ENGLISH}


def packs() -> dict[str, Pack]:
    """The languages to choose from, English first; a pack that cannot be read is left out (see :func:`problems`).

    This looks at the files, as every run of a page does once; until then texts are written with the packs as they were.
    """
    global _packs
    found = {ENGLISH: Pack(ENGLISH, "English")}
    for code, path in files().items():
        try:
            found[code] = _of_file(path)
        except PackError:
            continue
    _packs = found
    pack.cache_clear()
    return found


def problems() -> list[str]:
    """A sentence for each pack that cannot be used, and for each message of the others that is left out."""
    said = []
    for code, path in files().items():
        try:
            said += [f"{code}: {fault}" for fault in _of_file(path).faults]
        except PackError as broken:
            said.append(str(broken))
    return said


@lru_cache(maxsize=64)
def pack(code: str) -> Pack:
    """The pack of a language as :func:`packs` finds it; an empty one if there is none, or if it cannot be used."""
    return _packs.get(code) or packs().get(code) or Pack(code, code)


def _of_file(path: Path) -> Pack:
    try:
        changed = path.stat()
    except OSError as error:
        raise PackError("{file} cannot be read: {why}.", file=path.name, why=error.strerror) from error
    return _read(path, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> Pack:
    """Read a pack. `changed` and `size` are those of its file, so that a new one is read.

    Raises:
        PackError: it is no gettext file in UTF-8, too large, or its name is not the code of a language.
    """
    from babel import Locale, UnknownLocaleError

    code = path.stem
    try:
        locale = Locale.parse(code, sep="-") if _CODE.fullmatch(code) else None
    except (UnknownLocaleError, ValueError):
        locale = None
    if locale is None:
        raise PackError(
            "{file} cannot be used: its name is not the code of a language, such as de.po or pt-BR.po.",
            file=readable(path.name),
        )
    if size > MAX_BYTES:
        raise PackError("{file} cannot be used: it has more than {most:,} bytes.", file=path.name, most=MAX_BYTES)
    catalog = read_po(path)
    messages, faults = {}, []
    for english, several, written in _entries(catalog):
        if fault := fault_of(english, several, written):
            faults.append(fault)
        else:
            messages[english] = written
    template = template_messages()
    name = locale.get_language_name(code) or code
    try:
        form = gettext.c2py(catalog.plural_expr)
    except ValueError as error:
        raise PackError(
            "{file} cannot be used: its plural forms are not those of gettext ({why}).",
            file=path.name,
            why=readable(str(error)),
        ) from error
    return Pack(
        code=code,
        name=name[0].upper() + name[1:],
        direction=locale.text_direction,
        messages=messages,
        form=form,
        share=len(messages.keys() & template) / max(1, len(template)),
        by_machine=MACHINE in (catalog.last_translator or "").casefold(),
        faults=tuple(faults),
    )


def read_po(path: Path) -> Catalog:
    """Read a gettext file.

    Raises:
        PackError: it cannot be read; the sentence says why.
    """
    from babel.messages.pofile import PoFileError
    from babel.messages.pofile import read_po as read

    try:
        with path.open("rb") as file:
            return read(file, locale=None, charset="utf-8", abort_invalid=True)
    except OSError as error:
        raise PackError("{file} cannot be read: {why}.", file=path.name, why=error.strerror) from error
    except (PoFileError, ValueError, LookupError, SyntaxError) as error:
        raise PackError(
            "{file} cannot be used: it is not a gettext file in UTF-8 ({why}).",
            file=readable(path.name),
            why=readable(str(error)),
        ) from error


@lru_cache(maxsize=1)
def template_messages() -> frozenset[str]:
    """All messages there are to translate, by their English text."""
    return frozenset(english for english, _ in messages_of(read_po(TEMPLATE)))


def messages_of(catalog: Catalog) -> Iterator[tuple[str, str | None]]:
    """Every message with its English plural, if it counts something."""
    for message in catalog:
        if isinstance(message.id, str):
            if message.id:
                yield message.id, None
        else:
            yield message.id[0], message.id[1]


def _entries(catalog: Catalog) -> Iterator[tuple[str, str | None, Forms]]:
    """Every translated message: in English, its English plural, and the translation."""
    for message in catalog:
        if message.fuzzy or not message.id or not message.string:
            continue
        if isinstance(message.id, str):
            yield message.id, None, str(message.string)
        elif all(forms := tuple(message.string)):
            yield message.id[0], message.id[1], forms


def fault_of(english: str, several: str | None, written: Forms) -> str:
    """What is wrong with a translation; "" if it has the fields and the markup of the English message."""
    forms = (written,) if isinstance(written, str) else written
    wanted = fields_of(several or english)
    # English may write out "one" in its singular; a translation may do so in any form.
    named = [name for form in (english, several or "", *forms) for name in fields_of(form) or ()]
    free = {name for name in named if several and name.partition(":")[0] == "n"}
    for form in forms:
        given = fields_of(form)
        if given is None:
            return f"“{_short(form)}” has a brace without its partner."
        if wanted is not None and given - free != wanted - free:
            return f"“{_short(form)}” has the fields {_named(given)}, not {_named(wanted)}."
        if sorted(_MARKUP.findall(form)) not in [sorted(_MARKUP.findall(text)) for text in (english, several) if text]:
            return f"“{_short(form)}” has other markup than “{_short(english)}”."
    return ""


def fields_of(text: str) -> set[str] | None:
    """The names and formats of the `{fields}` of a message; None if its braces do not match, as in a formula."""
    try:
        return {f"{name}:{spec}" if spec else name for _, name, spec, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return None


def _named(fields: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(fields)) or "none"


def _short(text: str) -> str:
    return readable(text, 60)


def in_digits_of(code: str, number: str) -> str:
    """Write a number that was formatted in English with the decimal mark and the group mark of a language."""
    return number.translate(_marks(code)) if code != ENGLISH else number


@lru_cache(maxsize=64)
def _marks(code: str) -> dict[int, str]:
    from babel import Locale
    from babel.numbers import get_decimal_symbol, get_group_symbol

    locale = Locale.parse(code, sep="-")
    marks = {".": get_decimal_symbol(locale), ",": get_group_symbol(locale)}
    # Each character that a table lacks costs an exception.
    return str.maketrans({**{chr(i): chr(i) for i in range(128)}, **marks})
