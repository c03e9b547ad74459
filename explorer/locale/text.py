"""How text and numbers are written for people: counted nouns, quoted tokens, lists, rounding, Markdown escapes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from model.plurals import plural as plural
from model.user_error import printable as printable
from model.user_error import refused_by_system

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!$:<>|~&])")
# Markdown also turns bare addresses into links, after it has read the escapes: an invisible joiner keeps them text.
_ADDRESS = re.compile(r"(?i)(www(?=\.)|https?(?=:)|ftp(?=:)|mailto(?=:)|xmpp(?=:)|@)")
_SPACES = str.maketrans("\n\r\t", "   ")


def plain(text: str) -> str:
    """`text` as Markdown that shows exactly these characters: names, tokens and sentences are never markup.

    Line breaks and tabs become spaces; characters that would reorder or hide the text around them are written out.
    """
    joined = _ADDRESS.sub("\\1\u2060", printable(text.translate(_SPACES)))
    return _MARKDOWN.sub(r"\\\1", joined)


def quoted(token: str) -> str:
    """A token or sentence set apart from the prose around it: “.” looks at 10 “books”."""
    return f"“{printable(token)}”"


def listed(items: Iterable[str], conjunction: str = "and") -> str:
    """Items as a list in a sentence: "a", "a and b", "a, b and c"; "" without any."""
    *first, last = list(items) or [""]
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    """A number with so many decimals, rounded once; what rounds to 0 has no sign: "0.123", "+0.12", "0.000".

    Everything that shows one number in two places must round it here both times, from the number itself: what has
    been rounded before may round to another last digit.
    """
    text = f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"
    return text.lstrip("+-") if not text.strip("+-0.") else text


def rounded(value: float, decimals: int) -> float | None:
    """A number for a table, rounded as :func:`fixed` does; None where it is not known."""
    return float(fixed(value, decimals)) if math.isfinite(value) else None


def percent(share: float, decimals: int = 0) -> str:
    """A share from 0 to 1 in percent: "37 %", "99.7 %"."""
    return f"{fixed(100 * share, decimals)} %"


def weight_percent(weight: float) -> str:
    """A weight in whole percent: "37 %", "< 1 %", "> 99 %"; only 0 is written as 0 and only 1 as 100.

    The browser writes weights by the same rule (explorer/browser/js/numbers.js).
    """
    if 0 < weight < 0.005:
        return "< 1 %"
    if 0.995 <= weight < 1:
        return "> 99 %"
    return f"{math.floor(100 * weight + 0.5)} %"


def cell_number(value: float, *, signed: bool = False) -> str:
    """A number short enough for a cell of a map: ".42", ">.99", "0", "1"; of a difference: "+.42".

    Nothing where two decimals would make it 0, and for NaN. Only 0 is written as 0 and only 1 as 1, as in the browser.
    """
    size = abs(value)
    sign = "" if not signed or not value else "-" if value < 0 else "+"
    if math.isnan(value) or 0 < size < 0.005:
        return ""
    if 0.995 <= size < 1:
        return f"{sign}>.99" if not signed else f"{sign}.99"
    if size in (0, 1):
        return f"{sign}{size:.0f}"
    text = f"{math.floor(100 * size + 0.5) / 100:.2f}"
    return sign + text.removeprefix("0")


def count(number: float) -> str:
    """A large number with three digits and a unit: 950, 12.3 k, 1.3 M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters; one that is longer ends in "…"."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def why(error: Exception) -> str:
    """The sentence that an error is shown as: our own messages as they are, the system's with file and reason."""
    if not isinstance(error, OSError):
        return str(error)
    return refused_by_system(error, unnamed="A file", whole_path=False)
