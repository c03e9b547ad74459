"""Write durations for people, as :mod:`model.durations` does for command lines."""

from __future__ import annotations

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t
from model import durations


def span(low: float, high: float) -> str:
    """Write a range of seconds: "20 to 45 s"; "about 4 min" if both ends read the same."""
    first, last, unit = durations.rounded_span(low, high)
    code, unit = current(), t("days") if unit == "days" else unit
    first, last = in_digits_of(code, first), in_digits_of(code, last)
    if first == last:
        return t("about {duration} {unit}", duration=last, unit=unit)
    return t("{first} to {last} {unit}", first=first, last=last, unit=unit)
