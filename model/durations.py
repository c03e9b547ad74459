"""Write durations: one number of seconds, or a range."""

from __future__ import annotations

import math

from model.plurals import plural

_IN_SECONDS, _IN_MINUTES, _IN_HOURS = 90, 90 * 60, 72 * 3600  # ranges that end below these are written in this unit
_STEP = 5  # seconds: a range is not written more exactly


def clock(seconds: float) -> str:
    """Write a duration: "41 s", "3 min 20 s", "2 h 05 min", "3 days 4 h"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    days, rest = divmod(whole, 86_400)
    return f"{plural(days, 'day')} {rest // 3600} h"


def span(low: float, high: float) -> str:
    """Write a range of seconds: "20 to 45 s", "3 to 5 min", "1.5 to 2 h"; "about 4 min" if both ends read the same."""
    first, last, unit = rounded_span(low, high)
    return f"about {last} {unit}" if first == last else f"{first} to {last} {unit}"


def rounded_span(low: float, high: float) -> tuple[str, str, str]:
    """Round the ends of a range of seconds to a common unit, the longer one up: ("20", "45", "s")."""
    units = ((_IN_SECONDS, 1, "s", _STEP), (_IN_MINUTES, 60, "min", 1), (_IN_HOURS, 3600, "h", 0.5))
    size, unit, step = next((unit[1:] for unit in units if high < unit[0]), (86_400, "days", 1))
    first, last = (max(step * steps, step) for steps in (round(low / size / step), math.ceil(high / size / step)))
    return f"{first:g}", f"{last:g}", unit
