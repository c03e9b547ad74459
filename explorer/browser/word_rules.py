"""The rules by which spaCy splits words, as data for the tokenizer in the browser (`js/live/words.js`).

Patterns are read by Python's own parser and written as JavaScript's with the flag "u", because the two languages escape
differently. Characters outside the Basic Multilingual Plane stay whole under that flag.
"""

from __future__ import annotations

import re
from typing import Any

from spacy.attrs import ORTH  # type: ignore[import-not-found]  # compiled
from spacy.util import get_lang_class

if not hasattr(re, "_parser"):  # public under another name until Python 3.10
    raise ImportError("Python 3.11 or newer is needed.")
_parse, _names = re._parser.parse, re._constants  # type: ignore[attr-defined]

_SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CATEGORIES = {"DIGIT": r"\p{Nd}", "WORD": r"\p{L}\p{N}_", "SPACE": _SPACE}
_PLACES = {"AT_BEGINNING": "^", "AT_BEGINNING_STRING": "^", "AT_END": "$", "AT_END_STRING": "$"}


def word_rules(lang: str) -> dict[str, Any]:
    """Return the exceptions and patterns of a language's tokenizer; a pattern is None where the language has none.

    Raises:
        ValueError: a pattern uses what JavaScript does not have, or a program splits this language, not rules.
    """
    tokenizer: Any = get_lang_class(lang)().tokenizer
    if not hasattr(tokenizer, "rules"):
        raise ValueError(f"the language {lang} is split by a program.")
    searches = {"prefix": "prefix_search", "suffix": "suffix_search", "infix": "infix_finditer"}
    matches = {"token": "token_match", "url": "url_match"}
    return {
        "exceptions": {chunk: [part[ORTH] for part in parts] for chunk, parts in tokenizer.rules.items()},
        **{name: _pattern(getattr(tokenizer, attribute)) for name, attribute in {**searches, **matches}.items()},
    }


def _pattern(method: Any) -> str | None:
    """The pattern of a bound method of a compiled regular expression, as JavaScript's; `match` begins with ^."""
    if method is None:
        return None
    compiled: re.Pattern[str] = method.__self__
    if compiled.flags & re.IGNORECASE:
        raise ValueError("patterns that ignore case are not written.")
    written = _sequence(_parse(compiled.pattern, compiled.flags))
    return f"^(?:{written})" if method.__name__ == "match" else written


def _sequence(items: Any) -> str:
    return "".join(_item(operation, value) for operation, value in items)


def _item(operation: Any, value: Any) -> str:
    """One part of a parsed pattern as JavaScript."""
    match str(operation):
        case "LITERAL":
            return _escaped(value)
        case "NOT_LITERAL":
            return f"[^{_escaped(value)}]"
        case "ANY":
            return r"[^\n]"
        case "AT":
            return _place(str(value))
        case "IN":
            return _set(value)
        case "BRANCH":
            return f"(?:{'|'.join(_sequence(branch) for branch in value[1])})"
        case "SUBPATTERN":
            return f"(?:{_sequence(value[3])})"
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, body = value
            times = f"{{{least},{'' if most is _names.MAXREPEAT else most}}}"
            return f"(?:{_sequence(body)}){times}{'?' if str(operation) == 'MIN_REPEAT' else ''}"
        case "ASSERT" | "ASSERT_NOT":
            direction, body = value
            sign = "=" if str(operation) == "ASSERT" else "!"
            return f"(?{'<' if direction < 0 else ''}{sign}{_sequence(body)})"
    raise ValueError(f"patterns with {operation} are not written.")


def _place(name: str) -> str:
    if name not in _PLACES:
        raise ValueError(f"patterns with {name} are not written.")
    return _PLACES[name]


def _set(parts: Any) -> str:
    """A set of characters."""
    written = []
    negated = ""
    if len(parts) == 1 and str(parts[0][1]).startswith("CATEGORY_NOT_"):
        return f"[^{_CATEGORIES[str(parts[0][1]).removeprefix('CATEGORY_NOT_')]}]"
    for operation, value in parts:
        match str(operation):
            case "NEGATE":
                negated = "^"
            case "LITERAL":
                written.append(_escaped(value))
            case "RANGE":
                written.append(f"{_escaped(value[0])}-{_escaped(value[1])}")
            case "CATEGORY" if "NOT" not in str(value):
                written.append(_CATEGORIES[str(value).removeprefix("CATEGORY_")])
            case _:
                raise ValueError(f"sets with {operation} {value} are not written.")
    return f"[{negated}{''.join(written)}]"


def _escaped(code: int) -> str:
    """A character as it may stand in a set and outside."""
    character = chr(code)
    if character == "-":  # which may be escaped in a set only
        return r"\x2d"
    if character in r"\^$.*+?()[]{}|/":
        return f"\\{character}"
    return character if character.isprintable() and not 0xD800 <= code < 0xE000 else f"\\u{{{code:x}}}"
