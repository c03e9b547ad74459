"""Compare two versions of a sentence word by word: words kept, replaced, removed and added."""

from __future__ import annotations

import re
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


def cut_words(text: str) -> list[str]:
    """Cut a text into words, with the space after each; they end at spaces and at punctuation marks, words too."""
    return _WORDS.findall(text.lstrip())


def word_spans(before: str, after: str) -> tuple[WordSpan, ...]:
    """Cut both sentences into alternating equal and changed spans.

    The spans of either side, joined,
    give that sentence. The matching is Ratcliff and Obershelp's (1988, `difflib`).
    """
    old_words, new_words = cut_words(before), cut_words(after)
    matcher = SequenceMatcher(
        None, [word.rstrip() for word in old_words], [word.rstrip() for word in new_words], autojunk=False
    )
    return tuple(
        WordSpan("".join(old_words[a:b]), "".join(new_words[c:d]), step != "equal")
        for step, a, b, c, d in matcher.get_opcodes()
    )


def changes_in_words(spans: Sequence[WordSpan]) -> str:
    """Describe all changes in a sentence: "“Football” became “Fußball” and “rot” is new."; or "No word changes."."""
    changed = [(span.before.strip(), span.after.strip()) for span in spans if span.changed]
    if not changed:
        return t("No word changes.")
    parts = []
    while changed:
        old, new = changed.pop(0)
        if not (old and new) and (new, old) in changed:  # taken out at one place, put in at another
            changed.remove((new, old))
            parts.append(t("{word} stands elsewhere", word=quoted(old or new)))
        else:
            parts.append(_in_words(old, new))
    more = len(parts) - _MOST_NAMED
    if more > 0:
        parts[_MOST_NAMED:] = [t("there is {n} more change", "there are {n:,} more changes", n=more)]
    return f"{listed(parts)}."


def _in_words(old: str, new: str) -> str:
    if not new:
        return t("{word} is missing", word=quoted(old))
    return t("{old} became {new}", old=quoted(old), new=quoted(new)) if old else t("{word} is new", word=quoted(new))
