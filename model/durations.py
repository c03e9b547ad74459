"""Write a range of seconds for people."""

from __future__ import annotations

import math

from model.wording import t

# Durations below the first number are written in this unit, of so many seconds, in steps of the last number.
_UNITS = (90, 1, "s", 5), (90 * 60, 60, "min", 1), (72 * 3600, 3600, "h", 0.5), (math.inf, 86_400, "days", 1)


def span(low: float, high: float) -> str:
    """Write a range of seconds, rounded outwards: "20 to 45 s", "20 s to 3 min"; "about 4 min" if both ends are that.

    The shorter end has the unit of the longer one unless it would be 0 in it.
    """
    at = next(nth for nth, (end, *_) in enumerate(_UNITS) if high < end)
    _, size, name, step = _UNITS[at]
    last, unit = max(step * math.ceil(high / size / step), step), t("days") if name == "days" else name
    shorter = ((step * math.floor(low / size / step), name) for _, size, name, step in _UNITS[at::-1])
    first, first_name = next((end for end in shorter if end[0]), (0, ""))
    if not first:
        return t("up to {last:g} {unit}", last=last, unit=unit)
    if first_name != name:
        return t("{first:g} {first_unit} to {last:g} {unit}", first=first, first_unit=first_name, last=last, unit=unit)
    if first == last:
        return t("about {last:g} {unit}", last=last, unit=unit)
    return t("{first:g} to {last:g} {unit}", first=first, last=last, unit=unit)
