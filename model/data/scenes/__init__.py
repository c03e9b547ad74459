"""Scenes: English–German sentence pairs of our own with word alignments, annotated twice.

`scenes.tsv` has the pairs and both annotations; `README.md` says how they were made and how far they agree. The
sentences describe everyday scenes, as those of Multi30k do, and none of them occurs there.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from model.data.task import Example, WordLinks

FILE = Path(__file__).parent / "scenes.tsv"
_WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
_LINK = re.compile(r"(\d+)([-?])(\d+)")

Links = frozenset[tuple[int, int]]
"""Pairs (English word, German word), counted from 0."""


@dataclass(frozen=True)
class Annotation:
    """One annotation of a pair: links without doubt, and links that others may draw differently (disjoint)."""

    sure: Links
    possible: Links


@dataclass(frozen=True)
class Scene:
    """A pair of sentences with both annotations of its words."""

    id: str
    english: str
    german: str
    annotations: tuple[Annotation, Annotation]

    @property
    def sure(self) -> Links:
        """The links that both annotations call sure (Och & Ney 2003, section 5.1: S is the intersection)."""
        first, second = self.annotations
        return first.sure & second.sure

    @property
    def possible(self) -> Links:
        """The links of either annotation, sure ones included (ibid.: P is the union)."""
        first, second = self.annotations
        return first.sure | first.possible | second.sure | second.possible

    def example(self, src_lang: str) -> Example:
        """The pair as an example with links, from "en" to "de" or from "de" to "en"."""
        english, german = tuple(word_spans(self.english)), tuple(word_spans(self.german))
        links = WordLinks(english, german, self.sure, self.possible)
        if src_lang == "en":
            return Example(self.english, self.german, links=links)
        return Example(self.german, self.english, links=links.swapped())


def word_spans(sentence: str) -> list[tuple[int, int]]:
    """Start and end of each word, as counted in the annotations; a punctuation mark is a word of its own."""
    return [match.span() for match in _WORD.finditer(sentence)]


def examples(src_lang: str) -> tuple[Example, ...]:
    """All pairs as examples with sources in `src_lang`."""
    return tuple(scene.example(src_lang) for scene in scenes())


@functools.cache
def scenes() -> tuple[Scene, ...]:
    """All pairs, in the order of the file."""
    _, *lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return tuple(
        Scene(name, english, german, (_annotation(first), _annotation(second)))
        for name, english, german, first, second in rows
    )


def _annotation(text: str) -> Annotation:
    links: dict[str, set[tuple[int, int]]] = {"-": set(), "?": set()}
    for match in _LINK.finditer(text):
        links[match[2]].add((int(match[1]) - 1, int(match[3]) - 1))
    return Annotation(frozenset(links["-"]), frozenset(links["?"]))
