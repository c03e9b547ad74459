"""The registry of checks, which parses and validates their parameters and calls their functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from explorer.decoding.translator import Translation, Translator
from explorer.lessons.expressions import Term, TermError, Value
from explorer.locale.text import quoted
from model.config import ATTENTION_KINDS
from model.points import Head

# Parameters of every check: another model or sentence than the step's, target words that the translation is forced to
# begin with, the reader's own sentence, and the format of a number.
COMMON = ("model", "text", "after", "of", "as")

Result = TypeVar("Result")
Heads = tuple[Head, ...]
"""Heads in a lesson file: "cross.1.2,encoder.2.1"."""


@dataclass(frozen=True, eq=False)
class Live:
    """The input of every check: a loaded model, a translation by it, and the summary of its folder."""

    translator: Translator
    translation: Translation
    summary: Mapping[str, Any]


@dataclass(frozen=True)
class Check(Generic[Result]):
    """A check: its function, the types of its parameters, and the required ones."""

    function: Callable[..., Result]
    kinds: Mapping[str, Any]
    needs: tuple[str, ...]

    def arguments(self, term: Term) -> dict[str, Any]:
        """Convert the parameters of a term.

        Raises:
            TermError: one is missing, unknown, or has an invalid value.
        """
        given = {key: value for key, value in term.written if key not in COMMON}
        if unknown := [key for key in given if key not in self.kinds]:
            names = ", ".join(self.kinds) or "none"
            raise TermError(
                "{name} has no parameter {unknown}; its parameters are: {names}",
                name=term.name,
                unknown=unknown[0],
                names=names,
            )
        if missing := [key for key in self.needs if key not in given]:
            raise TermError("{name} needs {missing}", name=term.name, missing=", ".join(missing))
        return {key: _converted(f"{key} of {term.name}", value, self.kinds[key]) for key, value in given.items()}


def registered(registry: dict[str, Check[Result]]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator that enters a function into a registry under its own name.

    The parameters after the first one come from lesson files: whole numbers, numbers, words, one of the words of a
    `Literal`, or :data:`Heads`.
    """

    def enter(function: Callable[..., Result]) -> Callable[..., Result]:
        kinds = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        registry[function.__name__] = Check(
            function,
            {each.name: kinds[each.name] for each in parameters},
            tuple(each.name for each in parameters if each.default is each.empty),
        )
        return function

    return enter


# Layers, heads and positions count from 1. A check raises IndexError, KeyError or ValueError if the sentence or the
# model has no such part; `answer` turns that into a sentence.
CHECKS: dict[str, Check[Value]] = {}
check = registered(CHECKS)


def _converted(what: str, text: str, kind: Any) -> Any:
    if kind == Heads:
        return tuple(_head(what, part) for part in text.split(","))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise TermError(
                "{what} is one of {choices}, not '{text}'", what=what, choices=", ".join(get_args(kind)), text=text
            )
        return text
    try:
        value = kind(text)
    except ValueError:
        raise TermError("{what} is a number, not '{text}'", what=what, text=text) from None
    if kind is not str and not 0 <= value <= 1e6:
        raise TermError("{what} is out of range: {text}", what=what, text=text)
    return value


def _head(what: str, text: str) -> Head:
    """Parse kind, layer and head of "cross.1.2"."""
    match = re.fullmatch(rf"({'|'.join(ATTENTION_KINDS)})\.([1-9]\d{{0,2}})\.([1-9]\d{{0,2}})", text, re.ASCII)
    if match is None:
        raise TermError(
            "{what}: '{text}' is not a head; write kind.layer.head, such as cross.1.2", what=what, text=text
        )
    return next(kind for kind in ATTENTION_KINDS if kind == match[1]), int(match[2]), int(match[3])


def validate(term: Term) -> None:
    """Refuse a term that names an unknown check or has invalid parameters.

    Raises:
        TermError: the message says what is expected.
    """
    if term.name not in CHECKS:
        raise TermError(
            "there is no check '{name}'; the checks are {checks}", name=term.name, checks=", ".join(sorted(CHECKS))
        )
    CHECKS[term.name].arguments(term)
    style = term.values.get("as", "percent")
    if style != "percent" and not (style.isascii() and style.isdecimal() and len(style) == 1):
        raise TermError("as={style} is neither 'percent' nor a single digit of decimals", style=style)
    if term.values.get("of", "here") != "here":
        raise TermError("of={text} is not known; of=here means the reader's own sentence", text=term.values["of"])


def answer(term: Term, live: Live) -> Value:
    """Compute the value of a check.

    Raises:
        TermError: the sentence or the model has no such row, key, layer, head or part.
    """
    named = CHECKS[term.name]
    try:
        value = named.function(live, **named.arguments(term))
    except TermError:
        raise
    except (IndexError, KeyError, ValueError, TypeError, OSError) as unfit:
        where = f"{live.translation.model} and {quoted(live.translation.source.text)}"
        raise TermError("{term} has no answer for {where}: {unfit}", term=term, where=where, unfit=unfit) from unfit
    return value.item() if isinstance(value, np.generic) else value


def item_at(sequence: Any, position: int, what: str) -> Any:
    """Item number `position` of a sequence, from 1; raises an IndexError that names `what` if there is none."""
    if not 1 <= position <= len(sequence):
        raise IndexError(f"there is no {what} {position}; they go from 1 to {len(sequence)}.")
    return sequence[position - 1]
