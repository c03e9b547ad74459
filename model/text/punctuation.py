"""The Moses normalisation of punctuation, with the position that each character comes from.

The rules are those of `sacremoses`; it returns only the new text, and the attention of a token must be drawn over the
text that a person typed.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from array import array
from pathlib import Path
from typing import Any

from model.text.pieces import TokenizerError

Rule = tuple[re.Pattern[str], str]


@functools.lru_cache(maxsize=16)
def _rules(lang: str) -> tuple[Rule, ...]:
    """The rules of a language, in their order."""
    normalizer = _rules_module().MosesPunctNormalizer(lang)
    return tuple((re.compile(pattern), template) for pattern, template in normalizer.substitutions)


@functools.cache
def _rules_module() -> Any:
    """`sacremoses.normalize` alone: importing the whole package compiles its tokenizer's tables for a second."""
    package = importlib.util.find_spec("sacremoses")
    if package is None or not package.submodule_search_locations:
        raise TokenizerError("sacremoses, which normalises punctuation, is not installed; install requirements.txt.")
    path = Path(package.submodule_search_locations[0]) / "normalize.py"
    spec = importlib.util.spec_from_file_location("sacremoses_normalize", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normalize_punctuation(text: str, lang: str) -> tuple[str, array[int]]:
    """The text with its punctuation as Moses writes it and without whitespace at its ends.

    Returned with it: for each of its characters, and for its end, the position in `text` that it comes from.
    """
    origins = array("l", range(len(text) + 1))
    for pattern, template in _rules(lang):
        if pattern.search(text):
            text, origins = _substitute(pattern, template, text, origins)
    left = len(text) - len(text.lstrip())
    right = len(text.rstrip())
    return text.strip(), origins[left : max(left, right) + 1]


def _substitute(pattern: re.Pattern[str], template: str, text: str, origins: array[int]) -> tuple[str, array[int]]:
    """`pattern.sub(template, text)`; what a replacement shares with its match at either end keeps its position."""
    parts: list[str] = []
    places = array("l")
    end = 0
    for match in pattern.finditer(text):
        old, new = match.group(), match.expand(template)
        head = _shared(old, new)
        tail = _shared(old[head:][::-1], new[head:][::-1])
        parts += (text[end : match.start()], new)
        places += origins[end : match.start() + head]
        places += array("l", [origins[match.start() + head]]) * (len(new) - head - tail)
        places += origins[match.end() - tail : match.end()]
        end = match.end()
    parts.append(text[end:])
    places += origins[end:]
    return "".join(parts), places


def _shared(one: str, other: str) -> int:
    """How many characters two strings share at the beginning."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
