"""Write durations for people, as :mod:`model.durations` does for command lines."""

from __future__ import annotations

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t
from model import durations


def clock(seconds: float) -> str:
    """Write a duration: "41 s", "3 min 20 s", "2 h 05 min", "3 days 4 h"."""
    if round(seconds) < 86_400:
        return durations.clock(seconds)
    days, rest = divmod(round(seconds), 86_400)
    return t("{n} day {hours} h", "{n} days {hours} h", n=days, hours=rest // 3600)


def span(low: float, high: float) -> str:
    """Write a range of seconds: "20 to 45 s"; "about 4 min" if both ends read the same."""
    first, last, unit = durations.rounded_span(low, high)
    code = current()
    first, last = in_digits_of(code, first), in_digits_of(code, last)
    if first == last:
        return t("about {duration} {unit}", duration=last, unit=unit)
    return t("{first} to {last} {unit}", first=first, last=last, unit=unit)
