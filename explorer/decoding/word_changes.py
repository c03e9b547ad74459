"""Compare two versions of a sentence word by word: words kept, replaced, removed and added."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from explorer.locale.messages import t
from explorer.locale.text import listed, quoted

_WORDS = re.compile(r"(?:\w+|[^\w\s]+)\s*")
_MOST_NAMED = 4  # changes named in a sentence; the others are counted


@dataclass(frozen=True)
class WordSpan:
    """Neighbouring words in both versions, as written; one side is empty where words were removed or added."""

    before: str
    after: str
    changed: bool


def word_spans(before: str, after: str) -> tuple[WordSpan, ...]:
    """Cut both sentences into alternating equal and changed spans.

    Words end at spaces and at punctuation marks, which count as words themselves. The spans of either side, joined,
    give that sentence. The matching is Ratcliff and Obershelp's (1988, `difflib`).
    """
    old_words, new_words = _WORDS.findall(before.lstrip()), _WORDS.findall(after.lstrip())
    matcher = SequenceMatcher(
        None, [word.rstrip() for word in old_words], [word.rstrip() for word in new_words], autojunk=False
    )
    return tuple(
        WordSpan("".join(old_words[a:b]), "".join(new_words[c:d]), step != "equal")
        for step, a, b, c, d in matcher.get_opcodes()
    )


def changes_in_words(spans: Sequence[WordSpan]) -> str:
    """Describe all changes in a sentence: "“Football” became “Fußball” and “rot” is new."; or "No word changes."."""
    changed = [span for span in spans if span.changed]
    if not changed:
        return t("No word changes.")
    missing, new = (
        Counter(words.strip() for words, other in sides if not other)
        for sides in zip(*(((span.before, span.after), (span.after, span.before)) for span in changed), strict=True)
    )
    moved = missing & new  # taken out at one place, put in at another
    parts = [t("{word} stands elsewhere", word=quoted(word)) for word in moved.elements()]
    gone, come = moved.copy(), moved.copy()  # of which both spans have been named
    for span in changed:
        named, word = (gone, span.before.strip()) if not span.after else (come, span.after.strip())
        if (not span.before or not span.after) and named[word]:
            named[word] -= 1
        else:
            parts.append(_in_words(span))
    more = len(parts) - _MOST_NAMED
    if more > 0:
        parts[_MOST_NAMED:] = [t("there is {n} more change", "there are {n:,} more changes", n=more)]
    return f"{listed(parts)}."


def _in_words(span: WordSpan) -> str:
    old, new = quoted(span.before.strip()), quoted(span.after.strip())
    if not span.after:
        return t("{word} is missing", word=old)
    return t("{old} became {new}", old=old, new=new) if span.before else t("{word} is new", word=new)
