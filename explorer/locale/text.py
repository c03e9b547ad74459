"""Write text and numbers for people: counted nouns, quoted tokens, lists, rounding, Markdown escapes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from explorer.locale import language
from explorer.locale.catalogue import Pack, in_digits_of
from explorer.locale.messages import t
from explorer.locale.scripts import ordered
from explorer.locale.scripts import shortened as shortened
from model.plurals import plural as plural
from model.user_error import printable as printable
from model.user_error import refused_by_system

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!$:<>|~&])")
# Markdown also turns bare addresses into links, after it has read the escapes; an invisible joiner prevents that.
_ADDRESS = re.compile(r"(?i)(www(?=\.)|https?(?=:)|ftp(?=:)|mailto(?=:)|xmpp(?=:)|@)")
_SPACES = str.maketrans("\n\r\t", "   ")


@lru_cache(4096)
def plain(text: str) -> str:
    """Escape `text` as Markdown that shows exactly these characters, for names, tokens and sentences.

    Line breaks and tabs become spaces; characters that would reorder or hide the surrounding text are written out.
    Words that run from right to left reorder nothing beside them. A percent sign stays on the line of its number.
    """
    joined = _ADDRESS.sub("\\1\u2060", ordered(printable(text.translate(_SPACES))))
    return _MARKDOWN.sub(r"\\\1", joined).replace(" %", "\N{NO-BREAK SPACE}%")


def quoted(token: str) -> str:
    """Put a token or sentence in quotation marks: “.” looks at 10 “books”."""
    return t("“{token}”", token=printable(token))


def listed(items: Iterable[str], conjunction: Literal["and", "or"] = "and") -> str:
    """Join items as a list in a sentence: "a", "a and b", "a, b and c"; "" without items."""
    *first, last = list(items) or [""]
    if not first:
        return last
    joined = ", ".join(first)
    if conjunction == "or":
        return t("{first} or {last}", first=joined, last=last)
    return t("{first} and {last}", first=joined, last=last)


def fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    """Format a number with this many decimals; what rounds to 0 has no sign: "0.123", "−0.12", "0.000".

    The decimal mark is that of the language chosen. A number that is shown in two places must be rounded from its exact
    value both times, since rounding twice may change the last digit.
    """
    return in_digits_of(language.current(), _fixed(value, decimals, signed=signed).replace("-", "−"))


def two_digits(value: float, *, signed: bool = False) -> str:
    """Format a number as :func:`fixed` with two significant digits, but no fewer before the mark: "0.00042", "123"."""
    exponent = int(f"{value:.1e}".partition("e")[2])
    return fixed(value, max(0, 1 - exponent), signed=signed)


def _fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    value = math.nextafter(value, math.copysign(math.inf, value))  # a half is rounded away from zero: −3.25 to −3.3
    text = f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"
    return text.lstrip("+-") if not text.strip("+-0.") else text


def rounded(value: float, decimals: int) -> float | None:
    """Round a number for a table, as :func:`fixed` does; None if it is unknown."""
    return float(_fixed(value, decimals)) if math.isfinite(value) else None


def most_decimals(values: Iterable[Any]) -> int | None:
    """The most decimals, up to 4, that any number of a column has; None for a column of other things."""
    most = 0
    for value in values:
        if not isinstance(value, float | int | None):
            return None
        if isinstance(value, float) and math.isfinite(value):
            most = max(most, len(f"{value:.4f}".rstrip("0").partition(".")[2]))
    return most


def percent(share: float, decimals: int = 0) -> str:
    """Format a share from 0 to 1 in percent: "37 %", "99.7 %"."""
    return f"{fixed(100 * share, decimals)} %"


def weight_percent(weight: float) -> str:
    """Format a weight in whole percent: "37 %", "< 1 %", "> 99 %"; only 0 is written as 0 and only 1 as 100.

    The browser writes weights by the same rule (explorer/browser/js/numbers.js).
    """
    if 0 < weight < 0.005:
        return "< 1 %"
    if 0.995 <= weight < 1:
        return "> 99 %"
    return f"{math.floor(100 * weight + 0.5)} %"


def three_decimals(weight: float) -> str:
    """Format a weight with three decimals: "0.370", "< 0.001"; only 0 is written as 0."""
    return f"< {fixed(0.001, 3)}" if 0 < weight < 0.0005 else fixed(weight, 3)


def two_decimals(percentage: float) -> str:
    """Format a percentage with two decimals: "64.06", "< 0.01", "> 99.99"; only 0 is written as 0, 100 as 100."""
    if 0 < percentage < 0.005:
        return f"< {fixed(0.01, 2)}"
    return f"> {fixed(99.99, 2)}" if 99.995 <= percentage < 100 else fixed(percentage, 2)


def cell_number(value: float, *, signed: bool = False, narrow: bool = False) -> str:
    """Format a number for a cell of a map: ".42", ">.99", "0", "1"; a difference: "+.42".

    In German "+0,42", or "+,42" in a `narrow` cell. Empty for NaN and if two decimals would make it 0. Only 0 is
    written as 0 and only 1 as 1, as in the browser.
    """
    size = abs(value)
    sign = "" if not signed or not value else "−" if value < 0 else "+"
    if math.isnan(value) or 0 < size < 0.005:
        return ""
    if size in (0, 1):
        return f"{sign}{size:.0f}"
    almost = 0.995 <= size < 1
    text = "0.99" if almost else f"{math.floor(100 * size + 0.5) / 100:.2f}"
    if narrow or number_marks()[0] == ".":
        text = text.removeprefix("0")
    return in_digits_of(language.current(), f"{sign}{'>' if almost and not signed else ''}{text}")


def number_marks() -> str:
    """The decimal mark of the language chosen and the mark between thousands, as Plotly wants them: ".,", ",."."""
    return in_digits_of(language.current(), ".,")


def day(moment: datetime) -> str:
    """Format a day without its year: "28 Nov", in German "28. Nov."."""
    if language.current() == language.ENGLISH:
        return f"{moment.day} {moment:%b}"
    from babel.dates import format_skeleton

    return str(format_skeleton("MMMd", moment, locale=language.current().replace("-", "_")))


def count(number: float) -> str:
    """Format a large number with three digits and a unit: 950, 12.3 k, 1.3 M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{in_digits_of(language.current(), f'{number / size:.3g}')} {unit}"
    return f"{number:.0f}"


def capitalised(text: str) -> str:
    """Begin a text with a capital letter; the rest stays, since nouns of other languages may have capitals."""
    return text[:1].upper() + text[1:]


def why(error: Exception) -> str:
    """The sentence for an error: our own messages unchanged, the system's with file and reason."""
    if not isinstance(error, OSError):
        return str(error)
    return refused_by_system(error, unnamed=t("A file"), whole_path=False)


def language_name(pack: Pack) -> str:
    """A language's name in a menu, with how much of it is translated, and by whom."""
    if pack.by_machine:
        return t("{language} (translated by a machine)", language=pack.name)
    if pack.share < 0.995:
        return t("{language} ({share} translated)", language=pack.name, share=percent(pack.share))
    return pack.name
