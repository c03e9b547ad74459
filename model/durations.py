"""Write durations: one number of seconds, or a range."""

from __future__ import annotations

import math

from model.plurals import plural

# Durations below the first number are written in this unit, of so many seconds, in steps of the last number.
_UNITS = (90, 1, "s", 5), (90 * 60, 60, "min", 1), (72 * 3600, 3600, "h", 0.5), (math.inf, 86_400, "days", 1)


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
    """Write a range of seconds: "20 to 45 s", "20 s to 3 min", "1.5 to 2 h"; "about 4 min" if the ends are the same."""
    first, first_unit, last, unit = rounded_span(low, high)
    if first_unit != unit:
        return f"{first} {first_unit} to {last} {unit}" if first_unit else f"up to {last} {unit}"
    return f"about {last} {unit}" if first == last else f"{first} to {last} {unit}"


def rounded_span(low: float, high: float) -> tuple[str, str, str, str]:
    """Round a range of seconds, outwards, each end with its unit: ("20", "s", "3", "min").

    The shorter end has the unit of the longer one unless it would be 0 in it; both are empty if it is 0 in seconds.
    """
    at = next(nth for nth, (end, *_) in enumerate(_UNITS) if high < end)
    _, size, unit, step = _UNITS[at]
    last = max(step * math.ceil(high / size / step), step)
    for _, size, first_unit, step in _UNITS[at::-1]:
        if first := step * math.floor(low / size / step):
            return f"{first:g}", first_unit, f"{last:g}", unit
    return "", "", f"{last:g}", unit
