"""Runs of two arms with the same seed: does one arm come out ahead with every seed?"""

from __future__ import annotations

from collections.abc import Mapping

ENOUGH = 5
"""Seeds from which it counts: were there no difference, one side would be ahead with all five in 1 of 16 cases."""


def seeds_ahead(first: Mapping[int, float | None], other: Mapping[int, float | None]) -> int:
    """The number of seeds that both have if the value of the same arm is the larger with each of them; otherwise 0.

    Runs with the same seed read the data in the same order. 0 also if there are fewer than `ENOUGH`, or a value is
    missing.
    """
    pairs = [(first[seed], other[seed]) for seed in first.keys() & other.keys()]
    known = [(one, two) for one, two in pairs if one is not None and two is not None]
    if len(known) < max(ENOUGH, len(pairs)):
        return 0
    signs = {(two > one) - (two < one) for one, two in known}
    return len(known) if signs in ({1}, {-1}) else 0
