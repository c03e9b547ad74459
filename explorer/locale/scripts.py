"""What depends on the script of a text: the direction of a sentence, its width, and where it may be cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, repeat
from unicodedata import bidirectional, category, east_asian_width

from model.config import SPECIALS

_HIDDEN = re.compile(r"U\+[0-9A-F]{4,6}")  # a character that is written out
_ask: Callable[[], str] = lambda: ""  # noqa: E731
_JOINER, _MARK = "\u200d", "\u200e"  # the second is a left-to-right mark, which is invisible
_HEBREW_ARABIC = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_END = re.compile(rf"(?<={_HEBREW_ARABIC})(?![\s,;.!?'-]*{_HEBREW_ARABIC})")  # end of a run of right-to-left words


def is_leftwards(tokens: Sequence[str], words: Iterable[int] = ()) -> bool:
    """Whether a sentence is written from right to left: by its first letter, as in Unicode's rules P2 and P3.

    Special tokens and others that are no words, such as the label of a language, do not count; `words` has -1 for
    them. js/scripts.js has the same.
    """
    pairs = zip(tokens, chain(words, repeat(0)), strict=False)
    text = _HIDDEN.sub("", " ".join(token for token, word in pairs if word >= 0 and token not in SPECIALS))
    return next((bidirectional(letter) in ("R", "AL") for letter in text if letter.isalpha()), False)


def ask(source: Callable[[], str]) -> None:
    """Ask `source` for the direction that a session has chosen: "ltr", "rtl", or empty for none."""
    global _ask
    _ask = source


def is_laid_leftwards(written: bool) -> bool:
    """Whether words run from right to left: as they are `written`, or as the session has chosen."""
    return _ask() == "rtl" if _ask() else written


def ordered(text: str) -> str:
    """Make a text run from left to right, even if it contains right-to-left words."""
    return f"{_MARK}{_END.sub(_MARK, text)}" if not text.isascii() and _END.search(text) else text


def letters_of(text: str) -> list[str]:
    """Split a text into the characters that a reader sees: letters with their marks, and joined emoji."""
    letters: list[str] = []
    for part in text:
        if letters and _continues(letters[-1], part):
            letters[-1] += part
        else:
            letters.append(part)
    return letters


def _continues(letter: str, part: str) -> bool:
    if category(part) in ("Mn", "Mc", "Me") or _JOINER in (part, letter[-1]) or "\U0001f3fb" <= part <= "\U0001f3ff":
        return True
    return len(letter) == 1 and all("\U0001f1e6" <= half <= "\U0001f1ff" for half in (letter, part))  # a flag


def columns_of(text: str) -> int:
    """The width of a text in columns: a Chinese, Japanese or Korean character takes two, a mark none."""
    return sum(map(_width, text if text.isascii() else letters_of(text)))


def _width(letter: str) -> int:
    # No letter has sixteen marks; without the second term, a text of nothing but marks would have no width.
    return (2 if east_asian_width(letter[0]) in "WF" else 1) + len(letter) // 16


def shortened(text: str, most: int) -> str:
    """Cut a text to at most `most` columns between two letters; a text that is cut ends in "…"."""
    if columns_of(text) <= most:
        return text
    letters = letters_of(text)
    ends = accumulate(map(_width, letters))
    return "".join(letter for letter, end in zip(letters, ends, strict=True) if end < most) + "…"
