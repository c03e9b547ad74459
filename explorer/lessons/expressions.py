"""What a lesson asks of a model, as it stands in its text: `weight kind=cross layer=1 head=1 row=2 key=5 > 0.5`."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

Value = str | float | bool
OPERATORS = ("<", "<=", ">", ">=", "==", "!=")
EQUAL = 1e-9  # two computed numbers closer than this are the same
MAX_EXPRESSION = 500  # characters

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class TermError(ValueError):
    """An expression that cannot be read; the message says what is wrong with it."""


@dataclass(frozen=True)
class Term:
    """The name of a check with its parameters as written."""

    name: str
    written: tuple[tuple[str, str], ...] = ()

    @property
    def values(self) -> Mapping[str, str]:
        """The parameters by name."""
        return dict(self.written)

    def __str__(self) -> str:
        return " ".join([self.name, *(f"{key}={shlex.quote(value)}" for key, value in self.written)])


@dataclass(frozen=True)
class Expression:
    """A term alone, or compared with another term, a number or a word; a bare term on the right is written `name()`."""

    left: Term
    op: str = ""
    right: Term | float | str = ""

    @property
    def terms(self) -> tuple[Term, ...]:
        """Every term in it."""
        return (self.left, self.right) if isinstance(self.right, Term) else (self.left,)

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}" if self.op else str(self.left)


def read_expression(text: str) -> Expression:
    """Read an expression.

    Raises:
        TermError: it is none; the message says why.
    """
    if len(text) > MAX_EXPRESSION:
        raise TermError(f"an expression has at most {MAX_EXPRESSION} characters, not {len(text):,}")
    try:
        parts = shlex.split(text)
    except ValueError:
        raise TermError(f"a quotation mark is open at the end of '{text}'") from None
    places = [i for i, part in enumerate(parts) if part in OPERATORS]
    if not parts:
        raise TermError("an expression is missing here")
    if len(places) > 1:
        raise TermError(f"'{text}' compares more than two things")
    if not places:
        return Expression(_term(parts))
    left, right = parts[: places[0]], parts[places[0] + 1 :]
    if not left or not right:
        raise TermError(f"one side of '{parts[places[0]]}' is empty in '{text}'")
    return Expression(_term(left), parts[places[0]], _right(right))


def _term(parts: list[str]) -> Term:
    if not _NAME.fullmatch(parts[0]):
        raise TermError(f"'{parts[0]}' is no name of a check: small letters and _ only")
    written: dict[str, str] = {}
    for part in parts[1:]:
        key, sign, value = part.partition("=")
        if not sign or not _NAME.fullmatch(key):
            raise TermError(f"'{part}' is no parameter: write it as name=value")
        if key in written:
            raise TermError(f"the parameter {key} is given twice")
        written[key] = value
    return Term(parts[0], tuple(written.items()))


def _right(parts: list[str]) -> Term | float | str:
    if len(parts) > 1:
        return _term(parts)
    number = as_number(parts[0])
    if number is not None:
        return number
    return _term([parts[0].removesuffix("()")]) if parts[0].endswith("()") else parts[0]


def as_number(text: str) -> float | None:
    """A number as people write it ("0.25", "0,25", "25 %" is 25), or None."""
    cleaned = text.strip().removesuffix("%").strip().replace("−", "-").replace(",", ".")
    if not re.fullmatch(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})", cleaned, flags=re.ASCII):
        return None
    found = float(cleaned)
    return found if math.isfinite(found) else None


def compare(left: Value, op: str, right: Value) -> bool:
    """The truth of a comparison; words are compared without regard to capitals, and only for equality.

    Raises:
        TermError: the two cannot be compared so.
    """
    if isinstance(left, str) or isinstance(right, str):
        if op not in ("==", "!="):
            raise TermError(f"'{left}' {op} '{right}' compares words, which are equal or not")
        same = str(left).strip().casefold() == str(right).strip().casefold()
        return same if op == "==" else not same
    same = abs(float(left) - float(right)) <= EQUAL
    if op in ("==", "!="):
        return same if op == "==" else not same
    below = float(left) < float(right) and not same
    return {"<": below, "<=": below or same, ">": not below and not same, ">=": not below}[op]


def shown(value: Value, style: str = "") -> str:
    """A computed value in words: `style` is "percent", a number of decimals, or empty for three figures."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if style == "percent":
        return f"{100 * value:.0f} %"
    if style.isdecimal():
        return f"{value:.{style}f}"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.3g}"
