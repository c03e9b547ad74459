"""Two versions of a sentence, word by word: what stayed, what was replaced, what is missing, what is new."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from explorer.locale.text import listed, plural, quoted

_WORDS = re.compile(r"(?:\w+|[^\w\s]+)\s*")
_MOST_NAMED = 4  # changes named in a sentence; the others are counted


@dataclass(frozen=True)
class WordSpan:
    """Neighbouring words in both versions, as written; one side is empty where words were left out or put in."""

    before: str
    after: str
    changed: bool


def word_spans(before: str, after: str) -> tuple[WordSpan, ...]:
    """Both sentences cut into spans in their order, equal and changed ones taking turns.

    Words end at spaces and at punctuation marks, which count as words. The spans of either side, joined, are that
    sentence. The matching is Ratcliff and Obershelp's (1988, `difflib`).
    """
    one, two = _WORDS.findall(before.lstrip()), _WORDS.findall(after.lstrip())
    matcher = SequenceMatcher(None, [word.rstrip() for word in one], [word.rstrip() for word in two], autojunk=False)
    return tuple(
        WordSpan("".join(one[a:b]), "".join(two[c:d]), step != "equal") for step, a, b, c, d in matcher.get_opcodes()
    )


def changes_in_words(spans: Sequence[WordSpan]) -> str:
    """All changes as a sentence: "“Football” became “Fußball”, and “rot” is new."; says where there is none."""
    changed = [span for span in spans if span.changed]
    if not changed:
        return "No word changes."
    parts = [_in_words(span) for span in changed[:_MOST_NAMED]]
    if len(changed) > _MOST_NAMED:
        parts.append(f"there are {plural(len(changed) - _MOST_NAMED, 'more change')}")
    return f"{listed(parts)}."


def _in_words(span: WordSpan) -> str:
    old, new = quoted(span.before.strip()), quoted(span.after.strip())
    if not span.after:
        return f"{old} is missing"
    return f"{old} became {new}" if span.before else f"{new} is new"
