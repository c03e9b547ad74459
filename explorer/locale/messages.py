"""The functions through which every text of the interface passes: an English message with named fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from string import Formatter
from typing import Any

from explorer.locale import language
from explorer.locale.catalogue import Forms, in_digits_of, pack
from model import user_error, wording


def t(message: str, several: str | None = None, /, **fields: object) -> str:
    """Write an interface text in the language chosen, with its `{named}` fields filled in.

    `message` is a whole English sentence or label, never a part to be joined with another, since languages order their
    sentences differently. If it counts something, `several` is the message for every number but 1, and the field `n`
    is the number: ``t("{n} word", "{n:,} words", n=3)``. A field may have a format (``{share:.0%}``), which is applied
    as the language writes numbers.

    Callers pass both messages as literals, so that they can be collected for translators; a test ensures that, and that
    the fields are those in the messages. A message that has no translation is written in English. Raises KeyError for
    a missing field.
    """
    return _text(message, several, fields)


def _text(message: str, several: str | None, fields: dict[str, Any]) -> str:
    code = language.current()
    if code != language.ENGLISH and (forms := pack(code).messages.get(message)) is not None:
        return _Fields(code).vformat(_form(forms, code, fields), (), fields)
    return wording.english(message, several, fields)


def message(text: str) -> str:
    """Mark an English text in data, such as a table of labels, for collectors; :func:`translated` writes it."""
    return text


def translated(text: str) -> str:
    """Write a text from data (see :func:`message`) in the language chosen; what stands in braces stays."""
    code = language.current()
    forms = pack(code).messages.get(text) if code != language.ENGLISH else None
    return forms if isinstance(forms, str) else text


@dataclass(frozen=True)
class Later:
    """A text that is written each time it is shown, since others read the result that contains it in their language."""

    write: Callable[[], str]

    def __str__(self) -> str:
        return self.write()


def _form(forms: Forms, code: str, fields: dict[str, Any]) -> str:
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


def _error(message: str, fields: dict[str, Any]) -> str:
    """Write the message of an error in the language chosen."""
    code = language.current()
    forms = pack(code).messages.get(message) if code != language.ENGLISH else None
    text = forms if isinstance(forms, str) else message
    return _Fields(code).vformat(text, (), fields) if fields else text


user_error.write_with(_error)
wording.write_with(_text)
