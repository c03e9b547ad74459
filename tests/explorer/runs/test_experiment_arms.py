"""Pairs of runs with the same seed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from explorer.runs.experiment_arms import ENOUGH, seeds_ahead

VALUES = st.dictionaries(st.integers(0, 9), st.one_of(st.none(), st.floats(-9, 9)), max_size=9)


@given(first=VALUES, other=VALUES)
def test_the_same_arm_is_ahead_with_every_seed_of_both(
    first: dict[int, float | None], other: dict[int, float | None]
) -> None:
    found = seeds_ahead(first, other)
    assert found == seeds_ahead(other, first), "it does not matter which is first"
    shared = first.keys() & other.keys()
    values = [(first[seed], other[seed]) for seed in shared]
    decided = len(values) >= ENOUGH and all(None not in pair for pair in values)
    one_side = decided and (all(a < b for a, b in values) or all(a > b for a, b in values))  # type: ignore[operator]
    assert found == (len(shared) if one_side else 0)


def test_five_seeds_are_enough_and_four_are_not() -> None:
    low, high = {seed: float(seed) for seed in range(5)}, {seed: seed + 0.5 for seed in range(6)}
    assert seeds_ahead(low, high) == seeds_ahead(high, low) == 5
    assert seeds_ahead({seed: low[seed] for seed in range(4)}, high) == 0
    assert seeds_ahead(low | {4: 4.5}, high) == 0, "a tie is on no side"
    assert seeds_ahead(low | {5: None}, high) == 0, "what one of the seeds did is not known"
