"""Write durations for people, as :mod:`model.durations` does for command lines."""

from __future__ import annotations

from explorer.locale.catalogue import in_digits_of
from explorer.locale.language import current
from explorer.locale.messages import t
from model import durations


def span(low: float, high: float) -> str:
    """Write a range of seconds: "20 to 45 s", "20 s to 3 min"; "about 4 min" if both ends are the same."""
    first, first_unit, last, last_unit = durations.rounded_span(low, high)
    first, last = in_digits_of(current(), first), in_digits_of(current(), last)
    unit = t("days") if last_unit == "days" else last_unit
    if not first:
        return t("up to {duration} {unit}", duration=last, unit=unit)
    if first_unit != last_unit:
        return t("{first} {first_unit} to {last} {unit}", first=first, first_unit=first_unit, last=last, unit=unit)
    if first == last:
        return t("about {duration} {unit}", duration=last, unit=unit)
    return t("{first} to {last} {unit}", first=first, last=last, unit=unit)
