"""Durations in words."""

from __future__ import annotations

from model.durations import clock, span


def test_durations() -> None:
    durations = {0.4: "0 s", 59.6: "1 min 00 s", 200: "3 min 20 s", 7500: "2 h 05 min", 90_000: "1 day 1 h"}
    assert {seconds: clock(seconds) for seconds in durations} == durations


def test_ranges_in_the_unit_of_their_end() -> None:
    ranges = {
        (0.0, 0.2): "about 5 s",
        (18.0, 46.0): "20 to 45 s",
        (88.0, 91.0): "1 to 2 min",
        (200.0, 205.0): "about 3 min",
        (61 * 60.0, 95 * 60.0): "1 to 1.5 h",
        (10.0, 9000.0): "0.5 to 2.5 h",
    }
    assert {ends: span(*ends) for ends in ranges} == ranges
