"""The registry of checks: their parameters are parsed, refused with a sentence, and passed to the functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.decoding.translator import Translation, Translator
from explorer.lessons.expressions import Term, TermError, Value
from explorer.locale.text import quoted
from model.config import ATTENTION_KINDS, AttentionKind

# Parameters of every check: another model or sentence than the step's, target words that the translation is forced to
# begin with, the reader's own sentence, and the format of a number.
COMMON = ("model", "text", "after", "of", "as")


@dataclass(frozen=True, eq=False)
class Live:
    """The input of every check: a loaded model, a translation by it, and the summary of its folder."""

    translator: Translator
    shown: Translation
    summary: Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """A check: its function, its required and its optional parameters, each with its kind.

    Kinds: kind (of attention), count (a whole number), number, word, heads ("cross.1.2,encoder.2.1"), or the words that
    are allowed, joined by |.
    """

    function: Callable[..., Value]
    needs: Mapping[str, str]
    optional: Mapping[str, str]

    @property
    def about(self) -> str:
        """What the check returns, in a sentence."""
        return (self.function.__doc__ or "").strip().split("\n")[0]

    def arguments(self, term: Term) -> dict[str, Any]:
        """The parameters of a term, converted.

        Raises:
            TermError: one is missing, unknown, or has an invalid value.
        """
        known = {**self.needs, **self.optional}
        given = {key: value for key, value in term.written if key not in COMMON}
        if unknown := [key for key in given if key not in known]:
            names = ", ".join(known) or "none"
            raise TermError(f"{term.name} has no parameter {unknown[0]}; it knows: {names}")
        if missing := [key for key in self.needs if key not in given]:
            raise TermError(f"{term.name} needs {', '.join(missing)}")
        return {key: _converted(f"{key} of {term.name}", value, known[key]) for key, value in given.items()}


CHECKS: dict[str, Check] = {}


def check(needs: str = "", optional: str = "") -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a function as a check under its own name; parameters are written "row:count token:word"."""

    def enter(function: Callable[..., Value]) -> Callable[..., Value]:
        CHECKS[function.__name__] = Check(function, _kinds(needs), _kinds(optional))
        return function

    return enter


def _kinds(text: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in text.split())
    return {name: kind for name, _, kind in pairs}


def _converted(what: str, text: str, kind: str) -> Any:
    if kind == "word":
        return text
    if kind == "heads":
        return tuple(_head(what, part) for part in text.split(","))
    if kind == "kind" or "|" in kind:
        words = ATTENTION_KINDS if kind == "kind" else tuple(kind.split("|"))
        if text not in words:
            raise TermError(f"{what} is one of {', '.join(words)}, not '{text}'")
        return text
    try:
        number = int(text) if kind == "count" else float(text)
    except ValueError:
        raise TermError(f"{what} is a number, not '{text}'") from None
    if not 0 <= number <= 1e6:
        raise TermError(f"{what} is out of range: {text}")
    return number


def _head(what: str, text: str) -> tuple[AttentionKind, int, int]:
    """Kind, layer and head of "cross.1.2"."""
    kind, *numbers = text.split(".")
    whole = len(numbers) == 2 and all(n.isascii() and n.isdecimal() and 0 < int(n) < 1000 for n in numbers)
    for known in ATTENTION_KINDS:
        if kind == known and whole:
            return known, int(numbers[0]), int(numbers[1])
    raise TermError(f"{what}: '{text}' is not a head; write kind.layer.head, such as cross.1.2")


def validate(term: Term) -> None:
    """Refuse a term that names an unknown check or has invalid parameters.

    Raises:
        TermError: the message says what would be right.
    """
    if term.name not in CHECKS:
        raise TermError(f"there is no check '{term.name}'; the checks are {', '.join(sorted(CHECKS))}")
    CHECKS[term.name].arguments(term)
    style = term.values.get("as", "percent")
    if style != "percent" and not (style.isascii() and style.isdecimal() and len(style) == 1):
        raise TermError(f"as={style} is neither 'percent' nor a single digit of decimals")
    if term.values.get("of", "here") != "here":
        raise TermError(f"of={term.values['of']} is not known; of=here means the reader's own sentence")


def answer(term: Term, live: Live) -> Value:
    """The value of a check.

    Raises:
        TermError: the sentence or the model has no such row, key, layer, head or part.
    """
    known = CHECKS[term.name]
    try:
        value = known.function(live, **known.arguments(term))
    except TermError:
        raise
    except (IndexError, KeyError, ValueError, TypeError, OSError) as unfit:
        where = f"{live.shown.model} and {quoted(live.shown.source.text)}"
        raise TermError(f"{term} has no answer for {where}: {unfit}") from unfit
    return value.item() if isinstance(value, np.generic) else value


def item_at(sequence: Any, position: int, what: str) -> Any:
    """Item number `position` of a sequence, from 1; IndexError, which names `what`, where there is none."""
    if not 1 <= position <= len(sequence):
        raise IndexError(f"there is no {what} {position}, they go from 1 to {len(sequence)}.")
    return sequence[position - 1]
