"""Gold alignments that a person gives as pairs of words, such as "0-0 1?2 2-1"."""

from __future__ import annotations

import re

from model.data.word_links import WordLinks

_PAIR = re.compile(r"(\d{1,4})([-?])(\d{1,4})")
_PAIRS = re.compile(r"\d{1,4}[-?]\d{1,4}(\s+\d{1,4}[-?]\d{1,4})*")
_WORD = re.compile(r"\S+")


def is_alignment(text: str) -> bool:
    """Whether a text consists of pairs "source word-target word", as word aligners write them; "1?2" is not sure."""
    return bool(_PAIRS.fullmatch(text.strip()))


def word_links(pairs: str, source: str, target: str) -> WordLinks:
    """The links of a pair of sentences: words are those between spaces, counted from 0; pairs beyond are left out."""
    spans = [tuple(match.span() for match in _WORD.finditer(text)) for text in (source, target)]
    sure, possible = set(), set()
    for match in _PAIR.finditer(pairs):
        link = int(match[1]), int(match[3])
        if link[0] < len(spans[0]) and link[1] < len(spans[1]):
            possible.add(link)
            if match[2] == "-":
                sure.add(link)
    return WordLinks(spans[0], spans[1], frozenset(sure), frozenset(possible))
