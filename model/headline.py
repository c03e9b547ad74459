"""The headline score of a model: BLEU if its answers are sentences, exact match otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

HeadlineName = Literal["bleu", "exact_match"]


def headline_name(scores: Mapping[str, Any]) -> HeadlineName:
    """Choose the headline score.

    BLEU is measured only if answers are sentences. Earlier versions also measured it on single words, where it is 0
    even if all of them are right.
    """
    bleu, exact = number(scores, "bleu"), number(scores, "exact_match")
    if bleu is None or (exact is not None and bleu < 100 * exact - 0.05):
        return "exact_match"
    return "bleu"


def number(scores: Mapping[str, Any], name: str) -> float | None:
    """One of the scores; None if it was not measured."""
    value = scores.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
