"""The functions through which every text of the interface passes: an English message with named fields."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from numbers import Real
from string import Formatter
from typing import Any

from explorer.locale import language
from explorer.locale.catalogue import in_digits_of, pack
from model import wording
from model.wording import Later as Later
from model.wording import later as later
from model.wording import message as message
from model.wording import t as t


def _text(message: str, several: str | None, fields: Mapping[str, Any] | None) -> str:
    """Write a text in the language chosen; a message that has no translation is written in English."""
    code = language.current()
    translations = {} if code == language.ENGLISH else pack(code).messages
    if message not in translations:
        code, form = language.ENGLISH, wording.form(message, several, fields)
    elif isinstance(forms := translations[message], str):
        form = forms
    elif fields is None:
        form = message
    else:
        n = fields["n"]  # rules know whole numbers only; 0.5 counts as several
        form = forms[pack(code).form(int(n) if n == int(n) else 2)]
    if fields is None:
        return form
    return "".join(
        [
            part if name is None else part + _written(code, fields[name], spec, shape)
            for part, name, spec, shape in _parts(form)
        ]
    )


def translated(text: str) -> str:
    """Write a text from data (see :func:`message`) in the language chosen; what stands in braces stays."""
    return _text(text, None, None)


@lru_cache(8192)
def _parts(form: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """A message in parts: a text, and the name, format and conversion of the field after it, if there is one."""
    return list(Formatter().parse(form))


def _written(code: str, value: Any, spec: str | None, conversion: str | None) -> str:
    """Fill in a field; a number with a format is written as the language does, with its marks and a true minus."""
    if conversion:
        value = Formatter().convert_field(value, conversion)
    text = format(value, spec or "")
    return in_digits_of(code, text).replace("-", "−") if spec and isinstance(value, Real) else text


wording.write_with(_text)
