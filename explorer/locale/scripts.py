"""What depends on the script of a text: the direction of a sentence, its width, and where it may be cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, groupby, repeat
from unicodedata import bidirectional, category, east_asian_width

from model.config import SPECIALS

_HIDDEN = re.compile(r"U\+[0-9A-F]{4,6}")  # a character that is written out
_ask: Callable[[], str] = lambda: ""  # noqa: E731
_JOINER, _MARK = "\u200d", "\u200e"  # the second is a left-to-right mark, which is invisible
_HEBREW_ARABIC = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_DIGIT = re.compile("[0-9\u0660-\u0669\u06f0-\u06f9]")
_BRACKETS = dict(zip(")]}", "([{", strict=True))
_END = re.compile(rf"(?<={_HEBREW_ARABIC})(?![\s,;.!?'-]*{_HEBREW_ARABIC})")  # end of a run of right-to-left words


def is_leftwards(tokens: Sequence[str], words: Iterable[int] = ()) -> bool:
    """Whether a sentence is written from right to left: by its first letter, as in Unicode's rules P2 and P3.

    Special tokens and others that are no words, such as the label of a language, do not count; `words` has -1 for
    them. js/scripts.js has the same.
    """
    pairs = zip(tokens, chain(words, repeat(0)), strict=False)
    return _side(" ".join(token for token, word in pairs if word >= 0 and token not in SPECIALS)) or False


def _side(text: str) -> bool | None:
    """Whether the first letter of a text is written from right to left; None if it has no letter."""
    return next((bidirectional(each) in ("R", "AL") for each in _HIDDEN.sub("", text) if each.isalpha()), None)


def places(tokens: Sequence[str], leftwards: bool, direction: str = "") -> list[int]:
    """The place of each token from the left, by Unicode's bidirectional algorithm (UAX #9); [] if all are in order.

    A token is moved as a whole, by its first letter, as if it stood between spaces. If the reader has chosen a
    `direction` ("ltr" or "rtl"), all words run in it. js/scripts.js has the same.
    """
    if direction:
        return [*range(len(tokens))[::-1]] if direction == "rtl" else []
    if not leftwards and "".join(tokens).isascii():
        return []
    runs = groupby(enumerate(_sides(tokens, leftwards)), key=lambda each: each[1])
    parts = [[at for at, _ in run][:: 1 if side == leftwards else -1] for side, run in runs]
    order = [*chain.from_iterable(parts)][:: -1 if leftwards else 1]
    return sorted(order, key=order.__getitem__) if order != sorted(order) else []


def _sides(tokens: Sequence[str], leftwards: bool) -> list[bool]:
    """Whether each token is in a run from right to left; `leftwards` is the direction of the sentence."""
    sides: list[bool | None] = []
    last = leftwards
    for token in tokens:
        side = None if token in SPECIALS else _side(token)
        if side is not None:
            last = side
        elif token not in SPECIALS and (digit := _DIGIT.search(token)):  # rule W7
            side = last or bidirectional(digit[0]) == "AN"
        sides.append(side)

    def before(at: int) -> bool:
        return next((side for side in reversed(sides[:at]) if side is not None), leftwards)

    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for at, token in enumerate(tokens):
        if token in _BRACKETS.values():
            opened.append(at)
        elif start := [i for i in opened if tokens[i] == _BRACKETS.get(token)][-1:]:
            pairs.append((start[0], at))
            opened = [i for i in opened if i < start[0]]
    for first, end in sorted(pairs):  # rule N0
        if inside := {*sides[first + 1 : end]} - {None}:
            sides[first] = sides[end] = leftwards if leftwards in inside else before(first)
    found = [*sides, leftwards]
    for at, side in enumerate(sides):  # rules N1 and N2
        if side is None:
            after = next(each for each in found[at:] if each is not None)
            sides[at] = after if after == before(at) else leftwards
    return [bool(side) for side in sides]


def ask(source: Callable[[], str]) -> None:
    """Ask `source` for the direction that a session has chosen: "ltr", "rtl", or empty for none."""
    global _ask
    _ask = source


def direction() -> str:
    """The direction that the session has chosen: "ltr", "rtl", or empty for none."""
    return _ask()


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
