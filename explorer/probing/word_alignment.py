"""Gold alignments that a person gives as pairs of words, such as "0-0 1-2 2-1", for the tokens of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from model.data.task import Alignment
from model.text.tokenizer import Encoding

_PAIRS = re.compile(r"(\d{1,4}-\d{1,4})(\s+\d{1,4}-\d{1,4})*")
_WORD = re.compile(r"\S+")


def is_alignment(text: str) -> bool:
    """Whether a text consists of pairs "source word-target word", as word aligners write them."""
    return bool(_PAIRS.fullmatch(text.strip()))


def token_alignment(pairs: str, source: Encoding, target: Encoding) -> Alignment:
    """The alignment of tokens that an alignment of words means.

    Words are those between spaces, counted from 0. Every token of a target word is aligned with every token of the
    source words that it is paired with; pairs beyond either sentence are left out.
    """
    wanted: dict[int, set[int]] = {}
    for pair in pairs.split():
        left, right = map(int, pair.split("-"))
        wanted.setdefault(right, set()).add(left)
    words = _words(source)
    return tuple(tuple(i for i, word in enumerate(words) if word in wanted.get(own, ())) for own in _words(target))


def spans_alignment(
    links: Iterable[tuple[int, int]],
    source_spans: Sequence[tuple[int, int]],
    target_spans: Sequence[tuple[int, int]],
    source: Encoding,
    target: Encoding,
) -> Alignment:
    """The alignment of tokens that links between words mean, where words are given by their characters.

    `links` are pairs (source word, target word), counted from 0; a token belongs to each word whose characters it has.
    """
    sources, targets = _overlaps(source, source_spans), _overlaps(target, target_spans)
    wanted: dict[int, set[int]] = {}
    for left, right in links:
        wanted.setdefault(right, set()).add(left)
    return tuple(
        tuple(i for i, words in enumerate(sources) if any(words & wanted.get(word, set()) for word in own))
        for own in targets
    )


def _overlaps(encoding: Encoding, spans: Sequence[tuple[int, int]]) -> list[set[int]]:
    """The words that share a character with each token."""
    return [
        {word for word, (start, end) in enumerate(spans) if start < stop and begin < end}
        for begin, stop in encoding.offsets
    ]


def _words(encoding: Encoding) -> list[int]:
    """The word that each token of a text stands in; of a token for whitespace alone, the word before it."""
    spans = [match.span() for match in _WORD.finditer(encoding.text)]
    found = []
    for start, _ in encoding.offsets:
        found.append(max(sum(begin <= start for begin, _ in spans) - 1, 0))
    return found
