"""The Moses normalisation of punctuation, with the original position of each character.

The rules are those of `sacremoses`, which returns only the new text; attention must be drawn over the typed text.
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
    """The rules of a language, in order."""
    normalizer = _rules_module().MosesPunctNormalizer(lang)
    return tuple((re.compile(pattern), template) for pattern, template in normalizer.substitutions)


@functools.cache
def _rules_module() -> Any:
    """Import `sacremoses.normalize` alone: the whole package takes a second to compile its tokenizer's tables."""
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
    """Normalise the punctuation of a text and strip whitespace at its ends.

    Returns the new text and, for each of its characters and for its end, the original position in `text`.
    """
    origins = array("l", range(len(text) + 1))
    for pattern, template in _rules(lang):
        if pattern.search(text):
            text, origins = _substitute(pattern, template, text, origins)
    left = len(text) - len(text.lstrip())
    right = len(text.rstrip())
    return text.strip(), origins[left : max(left, right) + 1]


def _substitute(pattern: re.Pattern[str], template: str, text: str, origins: array[int]) -> tuple[str, array[int]]:
    """`pattern.sub(template, text)`; characters common to a match and its replacement keep their positions."""
    parts: list[str] = []
    positions = array("l")
    end = 0
    for match in pattern.finditer(text):
        old, new = match.group(), match.expand(template)
        head = _common_prefix(old, new)
        tail = _common_prefix(old[head:][::-1], new[head:][::-1])
        parts += (text[end : match.start()], new)
        positions += origins[end : match.start() + head]
        positions += array("l", [origins[match.start() + head]]) * (len(new) - head - tail)
        positions += origins[match.end() - tail : match.end()]
        end = match.end()
    parts.append(text[end:])
    positions += origins[end:]
    return "".join(parts), positions


def _common_prefix(a: str, b: str) -> int:
    """Number of characters that two strings have in common at their beginning."""
    return next((n for n, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b)))
