"""The one score that says how good a model is, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.locale.text import fixed, percent
from model.headline import headline_name, number


def headline(scores: Mapping[str, Any]) -> tuple[str, str] | None:
    """The leading score as a label and a value, such as ("Exactly right", "97.1 %"); None if nothing was scored."""
    name = headline_name(scores)
    value = number(scores, name)
    if value is None:
        return None
    return ("BLEU", fixed(value, 1)) if name == "bleu" else ("Exactly right", percent(value, 1))
