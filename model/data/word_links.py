"""Gold alignments between words, with sure and possible links."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]
Link = tuple[int, int]


@dataclass(frozen=True)
class WordLinks:
    """Links between the words of a pair, (source word, target word) counted from 0 (Och & Ney 2003, section 5.1).

    Words are given by the start and end of their characters. `possible` includes `sure`.
    """

    source: tuple[Span, ...]
    target: tuple[Span, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]

    def swapped(self) -> WordLinks:
        """The same pair read in the other direction."""
        sure, possible = (frozenset((j, i) for i, j in links) for links in (self.sure, self.possible))
        return WordLinks(self.target, self.source, sure, possible)
