"""Function words, content words and punctuation, by closed lists: for counts where no grammar is at hand."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from explorer.locale.text import listed
from model.text.tokenizer import Encoding

FILE = Path(__file__).parent / "function_words.toml"

WordClass = Literal["function", "content", "punctuation"]


@functools.cache
def function_words() -> dict[str, frozenset[str]]:
    """The function words of each language that has a list, in lower case."""
    languages = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: frozenset(" ".join(classes.values()).split()) for name, classes in languages.items()}


def languages() -> str:
    """The languages with a list, for a sentence."""
    return listed(sorted(function_words()))


def word_class(word: str, lang: str) -> WordClass:
    """The class of a word: in the list of its language, without any letter or digit, or everything else.

    Raises:
        KeyError: the language has no list.
    """
    bare = word.strip().lower().replace("’", "'")
    if bare in function_words()[lang]:
        return "function"
    return "content" if any(letter.isalnum() for letter in bare) else "punctuation"


def classes_of(sentences: Sequence[Encoding], lang: str) -> list[tuple[WordClass, ...]] | None:
    """For each sentence the class of every token, that of the word it is a part of; None without a list."""
    return [_classes(sentence, lang) for sentence in sentences] if lang in function_words() else None


def _classes(sentence: Encoding, lang: str) -> tuple[WordClass, ...]:
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = min(first, start), max(last, end)
    classes = {word: word_class(sentence.text[start:end], lang) for word, (start, end) in spans.items()}
    return tuple(classes[word] for word in sentence.words)
