"""Clocks and summaries of times."""

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

WARM_UP = 3


def seconds(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    begun = clock()
    work()
    return clock() - begun


def in_turns(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median milliseconds of each, called in turns, in a drawn order."""
    return {name: median(found) for name, found in turns(works, repeats).items()}


def turns(
    works: Mapping[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = perf_counter
) -> dict[str, list[float]]:
    """Milliseconds of every call of each, in turns, in a drawn order, so that what recurs in time hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for repeat in range(WARM_UP + repeats):
        for name in random.Random(repeat).sample(list(works), len(works)):
            time = 1000 * seconds(works[name], clock)
            if repeat >= WARM_UP:
                times[name].append(time)
    return times


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """How many values a median is of, and how large they are."""
    return f"median of {len(values)}; 95 % within {percentile(values, 95):.0f} {unit}"
