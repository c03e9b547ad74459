"""The functions through which every text of the interface passes: an English message with named fields."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from string import Formatter
from typing import Any

from explorer.locale import language
from explorer.locale.catalogue import Forms, in_digits_of, pack
from model import wording
from model.wording import Later as Later
from model.wording import later as later
from model.wording import message as message
from model.wording import t as t


def _text(message: str, several: str | None, fields: Mapping[str, Any] | None) -> str:
    """Write a text in the language chosen; a message that has no translation is written in English."""
    code = language.current()
    if code == language.ENGLISH or (forms := pack(code).messages.get(message)) is None:
        return wording.english(message, several, fields)
    if fields is None:
        return forms if isinstance(forms, str) else message
    form = _form(forms, code, fields)
    return _Fields(code).vformat(form, (), fields) if "{" in form or "}" in form else form


def translated(text: str) -> str:
    """Write a text from data (see :func:`message`) in the language chosen; what stands in braces stays."""
    return _text(text, None, None)


def _form(forms: Forms, code: str, fields: Mapping[str, Any]) -> str:
    if isinstance(forms, str):
        return forms
    n = fields["n"]
    return forms[pack(code).form(int(n) if n == int(n) else 2)]  # rules know whole numbers only; 0.5 counts as several


class _Fields(Formatter):
    """Fill in fields, with numbers as a language writes them."""

    def __init__(self, code: str) -> None:
        self.code = code

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Format a value; only numbers with a format have a decimal mark or groups of digits."""
        text = format(value, format_spec)
        return in_digits_of(self.code, text) if format_spec and isinstance(value, Real) else text


wording.write_with(_text)
