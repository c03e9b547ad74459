"""Tell the scripts of texts: which one a text is written in, and words that mix letters that look alike."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache

_EAST_ASIAN = frozenset(("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"))
_MIXABLE = frozenset(("LATIN", "CYRILLIC", "GREEK"))  # they have letters that look alike


@cache
def _script(letter: str) -> str:
    """The script of a letter, by the first word of its name; empty for what is not a letter."""
    if not letter.isalpha():
        return ""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return "EAST ASIAN" if script in _EAST_ASIAN else script if script not in ("MODIFIER", "FULLWIDTH") else ""


def main_script(text: str) -> str:
    """The script that most letters of a text have; empty for a text without letters."""
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else ""
    counts: Counter[str] = Counter()
    for letter, count in Counter(text).items():
        if script := _script(letter):
            counts[script] += count
    return max(counts, key=counts.__getitem__) if counts else ""


def has_mixed_word(text: str) -> bool:
    """Whether a word mixes letters of scripts that look alike, as Latin letters in a Cyrillic word do."""
    if text.isascii() or len(_MIXABLE.intersection(map(_script, set(text)))) < 2:
        return False
    for word in text.split():
        if not word.isascii():
            scripts = {_script(letter) for letter in word} & _MIXABLE
            if len(scripts) > 1 and not (scripts == {"LATIN", "GREEK"} and len(word) < 4):  # µm, Δx are units
                return True
    return False
