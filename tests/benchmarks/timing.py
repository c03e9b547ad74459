"""Clocks and summaries of times."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter


def seconds(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    begun = clock()
    work()
    return clock() - begun


def in_turns(
    works: Mapping[str, Callable[[], object]],
    repeats: int,
    warm_up: int = 3,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """Median milliseconds of each, called in turns, forth and back."""
    return {name: median(found) for name, found in turns(works, repeats, warm_up, clock).items()}


def turns(
    works: Mapping[str, Callable[[], object]],
    repeats: int,
    warm_up: int = 3,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, list[float]]:
    """Milliseconds of every call of each, in turns, forth and back."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for repeat in range(warm_up + repeats):
        for name in works if repeat % 2 else reversed(works):
            time = 1000 * seconds(works[name], clock)
            if repeat >= warm_up:
                times[name].append(time)
    return times


def likely_median(values: Sequence[float]) -> tuple[float, float]:
    """The interval that holds the median of what was drawn from with 95 %, by the ranks of these values."""
    ordered, n = sorted(values), len(values)
    below = max(0, math.floor(n / 2 - 0.98 * math.sqrt(n)))
    return ordered[below], ordered[n - 1 - below]


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """How many values a median is of, and how large they are."""
    return f"median of {len(values)}; 95 % within {percentile(values, 95):.0f} {unit}"
