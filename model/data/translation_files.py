"""Read the files of translators: translation memories (TMX) and message catalogues (PO)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.parsers import expat

from model.data.task import DataError

MAX_LANGUAGES = 50
MAX_DEPTH = 100  # elements inside one another
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))  # elements that hold codes of formatting, and no text
Unit = tuple[int, dict[str, str]]


def tmx_units(name: str, data: bytes) -> tuple[tuple[str, ...], Iterator[tuple[int, tuple[str, ...]]]]:
    """The languages of a translation memory, its source language first, and its units with their lines.

    A unit without one of the languages has an empty cell there. Texts in inline codes are left out.

    Raises:
        DataError: it is not well-formed XML, declares entities, or has no units.
    """
    reader = _TmxReader(name)
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: reader.start(tag, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.refuse_entity
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(
            "{name} is not valid TMX: line {lineno}: {code}.",
            name=name,
            lineno=error.lineno,
            code=expat.ErrorString(error.code),
        ) from error
    found = list(dict.fromkeys(language for _, unit in reader.units for language in unit))
    if len(found) < 2:
        raise DataError("{name} holds no units in two languages.", name=name)
    if len(found) > MAX_LANGUAGES:
        raise DataError(
            "{name} holds {found:,} languages; at most {max_languages} are read.",
            name=name,
            found=len(found),
            max_languages=MAX_LANGUAGES,
        )
    units_with = Counter(language for _, unit in reader.units for language in unit)
    main = reader.source.partition("-")[0]
    languages = tuple(sorted(found, key=lambda language: (language.partition("-")[0] != main, -units_with[language])))
    rows = ((line, tuple(unit.get(language, "") for language in languages)) for line, unit in reader.units)
    return languages, rows


class _TmxReader:
    """Handlers of an XML parser that collect the units of a translation memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = ""
        self.units: list[Unit] = []
        self._open: list[str] = []
        self._language = ""
        self._text: list[str] | None = None

    def refuse_entity(self, *declaration: object) -> None:
        """Refuse a file that declares entities, which may expand without end."""
        raise DataError("{name} declares entities, which are not read; export it without them.", name=self.name)

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """Begin an element."""
        self._open.append(tag)
        if len(self._open) > MAX_DEPTH:
            raise DataError("{name} nests elements more than {max_depth} deep.", name=self.name, max_depth=MAX_DEPTH)
        if tag == "header":
            self.source = attributes.get("srclang", "").casefold()
        elif tag == "tu":
            self.units.append((line, {}))
        elif tag == "tuv":
            self._language = (attributes.get("xml:lang") or attributes.get("lang") or "").casefold()
        elif tag == "seg":
            self._text = []

    def text(self, text: str) -> None:
        """Add text of a segment."""
        if self._text is not None and not _CODES.intersection(self._open):
            self._text.append(text)

    def end(self, tag: str) -> None:
        """End an element; the first segment of a language in a unit counts."""
        self._open.pop()
        if tag == "seg" and self._text is not None:
            if self.units and self._language:
                self.units[-1][1].setdefault(self._language, " ".join("".join(self._text).split()))
            self._text = None


_FIELD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)\s+(".*")\s*')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def po_messages(text: str) -> Iterator[tuple[int, str, str, str]]:
    """The messages of a catalogue as (line, problem, message, translation), singular and plural apart.

    Marks of keys (&File, _File) stay. Fuzzy messages and those without a translation have a problem.
    """
    fields: dict[str, list[str]] = {}
    latest, begun, fuzzy = "", 0, False
    for number, line in enumerate([*map(str.strip, text.split("\n")), "#"], start=1):
        match = _FIELD.fullmatch(line)
        begins = line.startswith("#") or (match is not None and match[1] in ("msgctxt", "msgid"))
        if begins and any(name.startswith("msgstr") for name in fields):
            yield from _messages(begun, {name: "".join(parts) for name, parts in fields.items()}, fuzzy)
            fields, latest, fuzzy = {}, "", False
        if match:
            begun = begun if fields else number
            latest = match[1]
            fields[latest] = [_unquoted(match[2])]
        elif line.startswith('"') and latest:
            fields[latest].append(_unquoted(line))
        elif line.startswith("#,"):
            fuzzy = fuzzy or "fuzzy" in line


def _messages(line: int, fields: dict[str, str], fuzzy: bool) -> Iterator[tuple[int, str, str, str]]:
    if not fields.get("msgid"):
        return  # the header
    for source, target in (("msgid", "msgstr"), ("msgid", "msgstr[0]"), ("msgid_plural", "msgstr[1]")):
        if source in fields and target in fields:
            problem = "marked as fuzzy" if fuzzy else ""
            yield line, problem, " ".join(fields[source].split()), " ".join(fields[target].split())


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text.strip()[1:-1])
