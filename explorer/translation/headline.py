"""The one score that says how good a model is: BLEU where its answers are sentences, else the share exactly right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from explorer.text import fixed, percent

HeadlineName = Literal["bleu", "exact_match"]


def headline_name(scores: Mapping[str, Any]) -> HeadlineName:
    """Which score leads.

    BLEU is measured only where answers are sentences. Earlier versions measured it on single words, too, where it is 0
    however many of them are right.
    """
    bleu, exact = _number(scores, "bleu"), _number(scores, "exact_match")
    if bleu is None or (exact is not None and bleu < 100 * exact - 0.05):
        return "exact_match"
    return "bleu"


def headline(scores: Mapping[str, Any]) -> tuple[str, str] | None:
    """The leading score as a label and a value, such as ("Exactly right", "97.1 %"); None if nothing was scored."""
    name = headline_name(scores)
    value = _number(scores, name)
    if value is None:
        return None
    return ("BLEU", fixed(value, 1)) if name == "bleu" else ("Exactly right", percent(value, 1))


def _number(scores: Mapping[str, Any], name: str) -> float | None:
    value = scores.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
