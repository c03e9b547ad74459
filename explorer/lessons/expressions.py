"""Parse and compare the expressions of lesson files, such as `weight kind=cross layer=1 head=1 row=2 key=5 > 0.5`."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.locale import language
from explorer.locale.catalogue import in_digits_of
from model.user_error import UserError

Value = str | float | bool
OPERATORS = ("<", "<=", ">", ">=", "==", "!=")
EQUAL = 1e-9  # largest difference of computed numbers that count as equal
MAX_EXPRESSION = 500  # characters

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class TermError(UserError):
    """The expression cannot be parsed or computed; the message says why."""


@dataclass(frozen=True)
class Term:
    """The name of a check, and its parameters as text."""

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
    """A term, alone or compared with a term, a number or a word; on the right, a bare term is written `name()`."""

    left: Term
    op: str = ""
    right: Term | float | str = ""

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms of the expression."""
        return (self.left, self.right) if isinstance(self.right, Term) else (self.left,)

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}" if self.op else str(self.left)


def read_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        TermError: it is invalid; the message says why.
    """
    if len(text) > MAX_EXPRESSION:
        raise TermError(
            "an expression has at most {max_expression} characters, not {length:,}",
            max_expression=MAX_EXPRESSION,
            length=len(text),
        )
    try:
        parts = shlex.split(text)
    except ValueError:
        raise TermError("a quotation mark is not closed in '{text}'", text=text) from None
    places = [i for i, part in enumerate(parts) if part in OPERATORS]
    if not parts:
        raise TermError("an expression is missing here")
    if len(places) > 1:
        raise TermError("'{text}' compares more than two things", text=text)
    if not places:
        return Expression(_term(parts))
    left, right = parts[: places[0]], parts[places[0] + 1 :]
    if not left or not right:
        raise TermError("one side of '{sign}' is empty in '{text}'", sign=parts[places[0]], text=text)
    return Expression(_term(left), parts[places[0]], _right(right))


def _term(parts: list[str]) -> Term:
    if not _NAME.fullmatch(parts[0]):
        raise TermError("'{name}' is not the name of a check: lowercase letters, digits and _ only", name=parts[0])
    written: dict[str, str] = {}
    for part in parts[1:]:
        key, sign, value = part.partition("=")
        if not sign or not _NAME.fullmatch(key):
            raise TermError("'{part}' is not a parameter: write it as name=value", part=part)
        if key in written:
            raise TermError("the parameter {key} is given twice", key=key)
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
    """Parse a number written as "0.25", "0,25" or "25 %" (25); None if it is not a number."""
    cleaned = text.strip().removesuffix("%").strip().replace("−", "-").replace(",", ".")
    if not re.fullmatch(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})", cleaned, flags=re.ASCII):
        return None
    number = float(cleaned)
    return number if math.isfinite(number) else None


def compare(left: Value, op: str, right: Value) -> bool:
    """Whether a comparison holds; words are only compared for equality, ignoring case.

    Raises:
        TermError: the operator orders words.
    """
    if isinstance(left, str) or isinstance(right, str):
        if op not in ("==", "!="):
            raise TermError(
                "'{left}' {op} '{right}' compares words, which are equal or not", left=left, op=op, right=right
            )
        same = str(left).strip().casefold() == str(right).strip().casefold()
        return same if op == "==" else not same
    same = abs(float(left) - float(right)) <= EQUAL
    if op in ("==", "!="):
        return same if op == "==" else not same
    below = float(left) < float(right) and not same
    return {"<": below, "<=": below or same, ">": not below and not same, ">=": not below}[op]


def _percent(share: float) -> str:
    """Write a share in whole percent; near 0 % and 100 % with the decimals that keep it apart from them."""
    for digits in range(4):
        text = f"{100 * share:.{digits}f}"
        if float(text) not in (0, 100) or share in (0, 1):
            return f"{_local(text)} %"
    return _local("< 0.001 %" if share < 0.5 else "> 99.999 %")


def _local(number: str) -> str:
    return in_digits_of(language.current(), number).replace("-", "−")


def value_text(value: Value, style: str = "") -> str:
    """Write a value as text: `style` is "percent", a number of decimals, or empty for three significant digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if style == "percent":
        return _percent(float(value))
    form = f".{style}f" if style.isdecimal() else ",.0f" if float(value).is_integer() and abs(value) < 1e15 else ".3g"
    return _local(format(value, form))
