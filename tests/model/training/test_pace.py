"""Estimates of time: steady while the machine is, and quick to follow when it changes."""

from itertools import pairwise

import pytest

from model.training.estimate import slowdown, undisturbed_rate
from model.training.trainer import SPELL_SECONDS, Pace


def test_the_newest_spells_decide_and_the_range_follows_the_load() -> None:
    """After an hour at one update a second, the machine becomes four times as fast."""
    pace, now, step = Pace(), 0.0, 0
    for _ in range(3600):
        now, step = now + 1.0, step + 1
        pace.remaining(now, step, 10_000)
    for seconds, range_of_paces in ((3 * SPELL_SECONDS, (0.25, 1.0)), (9 * SPELL_SECONDS, (0.25, 0.25))):
        for _ in range(int(4 * seconds)):
            now, step = now + 0.25, step + 1
            about, *ends = pace.remaining(now, step, 10_000) or (0.0,)
        assert ends == pytest.approx([each * (10_000 - step) for each in range_of_paces], rel=0.02)
    assert about == pytest.approx(0.25 * (10_000 - step), rel=0.02)


def test_the_range_is_wide_at_first_and_narrows_to_the_pace_of_a_steady_machine() -> None:
    pace, factors = Pace(), []
    assert [pace.remaining(float(now), now, 1000) for now in range(1, 6)] == [None] * 5, "too few updates to say"
    for now in range(6, 91):
        about, low, high = pace.remaining(float(now), now, 1000) or (0.0, 0.0, 0.0)
        assert low <= about == 1000 - now <= high
        factors.append(high / low)
    assert all(later < factor + 1e-9 for factor, later in pairwise(factors))
    assert (factors[0], factors[-1]) == pytest.approx((3.4, 1.0), rel=0.01)


def test_the_longest_time_falls_while_a_slow_start_gives_way_to_a_faster_pace() -> None:
    """Twenty seconds at two seconds an update beside another program, then a quarter of a second each."""
    pace, now, step = Pace(), 0.0, 0
    longest = []
    for seconds in [2.0] * 10 + [0.25] * 200:
        now, step = now + seconds, step + 1
        if ends := pace.remaining(now, step, 750):
            longest.append(ends[2])
    assert all(later < before for before, later in pairwise(longest[3:])), "never longer than a moment ago"
    assert longest[-1] < 1.2 * 0.25 * (750 - step), "the start is forgotten after a minute"


def test_interruptions_hardly_change_the_measured_rate() -> None:
    calm = [(1000, 0.1)] * 10
    disturbed = [(1000, 0.1), (1000, 0.9)] * 5
    assert undisturbed_rate(calm) == pytest.approx(10_000)
    assert undisturbed_rate(disturbed) == pytest.approx(10_000)
    assert (slowdown(calm), slowdown(disturbed)) == (pytest.approx(1.0), pytest.approx(5.0))
    assert undisturbed_rate([(500, 0.1)]) == pytest.approx(5_000)
    always = [(1000, 0.4)] * 10  # other programs take three quarters of every update
    assert (undisturbed_rate(always, 1.0), slowdown(always, 1.0)) == (pytest.approx(10_000), pytest.approx(4.0))
