"""Errors with messages for people, and safe quoting of foreign text: short, and with hidden characters made visible."""

from __future__ import annotations

import errno
import os
import re
import unicodedata

from model.wording import Later, english, t

QUOTED = 120
"""Characters of a value that a message quotes from a file, a link or an upload."""

MESSAGE = 600
"""Characters of a whole message."""

_BIDI_CONTROLS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_SPACES = str.maketrans("\n\r\t", "   ")
_WORD = re.compile(rf"\S{{{QUOTED + 1},}}")
_MAX_MARKS = 3  # combining marks on one letter; no language needs more, and a hundred of them cover the lines above


class UserError(ValueError):
    """An error that a person can fix: the message says what is wrong and what to do, in bounded length.

    `message` is a whole English sentence with `{named}` fields, whose values are given as `fields`. As with every text
    of the interface, a catalogue of another language finds the sentence by its English text. Without fields it stays
    as it is. Whatever it quotes, the message has at most `MESSAGE` characters and no word of more than `QUOTED`.
    Instead, it may be a text that is written later, or another error, whose text this one takes over.
    """

    text: Later

    def __init__(self, message: str | Later | Exception = "", /, **fields: object) -> None:
        self.text: Later
        if isinstance(message, UserError):
            self.text = message.text
        elif isinstance(message, Later):
            self.text = message
        else:
            self.text = Later(str(message), None, fields or None)
        super().__init__(bounded(english(self.text.message, self.text.several, self.text.fields)))

    def __str__(self) -> str:
        return bounded(str(self.text))


def bounded(message: str) -> str:
    """Cut long words and the middle of a long message, so that its beginning and its advice at the end remain."""
    begin, end = message[: 2 * MESSAGE], message[2 * MESSAGE :][-2 * MESSAGE :]
    text = _WORD.sub(lambda word: _middle_cut(word[0], QUOTED), _harmless(f"{begin}{end}"))
    return _middle_cut(text, MESSAGE)


def readable(text: str, most: int = QUOTED) -> str:
    """Quote foreign text of any length: one line of at most `most` characters."""
    quote = _harmless(text[: 4 * most])
    return quote if len(quote) <= most else f"{quote[: most - 1]}…"


def printable(text: str) -> str:
    """Write control characters, and marks that reorder the text around them, as `U+XXXX`."""
    if text.isprintable():  # nearly always
        return text
    return "".join(
        f"U+{ord(c):04X}" if unicodedata.category(c) in ("Cc", "Cs") or ord(c) in _BIDI_CONTROLS else c for c in text
    )


def refused_by_system(error: OSError, *, unnamed: str = "a file", whole_path: bool = True) -> str:
    """A sentence on which file the system could not read or write, and why.

    A failed write does not name its file; `unnamed` stands for it. Without `whole_path`, the file's folder is left out.
    """
    path = str(error.filename) if error.filename is not None else unnamed
    file = path if whole_path else os.path.basename(path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return bounded(
            t(
                "{file} cannot be written: the disk is full, or your share of it. Free some space and try again.",
                file=file,
            )
        )
    return bounded(t("{file} cannot be read or written: {reason}.", file=file, reason=error.strerror or error))


def _harmless(text: str) -> str:
    """One line of printable text in which no letter carries more than a few combining marks."""
    line = printable(text.translate(_SPACES))
    if line.isascii():
        return line
    letters, marks = [], 0
    for letter in line:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks <= _MAX_MARKS:
            letters.append(letter)
    return "".join(letters)


def _middle_cut(text: str, most: int) -> str:
    """Cut a text to `most` characters: two thirds from its beginning and the rest from its end."""
    first = 2 * most // 3
    return text if len(text) <= most else f"{text[:first]}…{text[len(text) - (most - first - 1) :]}"
