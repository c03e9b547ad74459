"""The verdict in one line: what differs by more than the runs of an arm do, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from explorer.runs.experiment_arms import arm_runs, seeds_ahead
from explorer.runs.experiment_findings import verdict
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.stored import StoredRun
from tests.explorer.runs.test_experiment_findings import BAD, GOOD, planted, run


def seeds(*scores: float, loss: float = 0.3) -> tuple[StoredRun, ...]:
    return tuple(run(seed, score, loss, (0.1,)) for seed, score in enumerate(scores))


def five(more: float) -> tuple[StoredRun, ...]:
    return seeds(*(score + more for score in (0.80, 0.90, 0.70, 0.85, 0.60)))


LATE = (run(1, 1.0, 0.1, (0.1, 0.2, 0.3, 1.0)), run(2, 0.99, 0.2, (0.1, 0.2, 0.3, 0.4, 1.0)))
UNSURE = (run(1, 1.0, 0.5, (0.5, 0.99)), run(2, 0.99, 0.6, (0.5, 0.9, 1.0)))
SAME = (run(1, 0.999, 0.1, (0.5, 0.99)), run(2, 0.985, 0.2, (0.5, 0.9, 1.0)))
MIXED = (run(1, 0.995, 0.1, (0.5, 0.99)), run(2, 0.9, 0.2, (0.5, 0.9, 1.0)))
SLOW = (run(1, 0.999, 0.1, (0.5, 0.99)), run(2, 0.985, 0.2, (0.5, 0.6, 0.9)))
FAILED = tuple(run(seed, 0.0, 0.0, (), scores={}, error="the loss is no longer a number.") for seed in (1, 2))


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (GOOD, BAD, "'two' (60 % against 99.5 %) is worse than 'one'."),
        (BAD, GOOD, "'two' (99.5 % against 60 %) is better than 'one'."),
        (GOOD, FAILED, "'two' (its runs failed) is worse than 'one'."),
        # Between equal scores the updates decide, and then the loss.
        (GOOD, LATE, "'two' (45 against 25 updates) is as good as 'one' in the end, but later."),
        (LATE, GOOD, "'two' (25 against 45 updates) is as good as 'one' in the end, and sooner."),
        (GOOD, UNSURE, "'two' (loss 0.55 against 0.15) is as often right as 'one', but less sure."),
        (
            seeds(0.5, 0.5),
            seeds(0.507, 0.507),
            "'two' (50.7 % against 50 %) is ahead of 'one' in every run, by less than a point.",
        ),
        (
            seeds(0.507, 0.507),
            seeds(0.5, 0.5),
            "'two' (50 % against 50.7 %) is behind 'one' in every run, by less than a point.",
        ),
        # Ranges that overlap, around the same mean and around others, and runs that miss the target decide nothing.
        (GOOD, SAME, "'two' shows no difference from 'one'."),
        (GOOD, MIXED, "'two' (94.8 % against 99.5 %, but the runs overlap) is not told apart from 'one'."),
        (GOOD, SLOW, "'two' (1 of 2 against 2 of 2 runs reached the target) is not told apart from 'one'."),
        # Five seeds that all favour one side decide, though the ranges overlap.
        (five(0), five(0.05), "'two' (82 % against 77 %, so with each of 5 seeds) is better than 'one'."),
        (five(0.05), five(0), "'two' (77 % against 82 %, so with each of 5 seeds) is worse than 'one'."),
        (five(0), (*five(0.05)[:4], run(4, 0.59, 0.3, (0.1,))), " is not told apart from 'one'."),
        (five(0), five(0.05)[:4], " is not told apart from 'one'."),
        (five(0), five(0.005), " shows no difference from 'one'."),
        (GOOD[:1], BAD[:1], "Not decided: with one run of a variant, 'one' 100 % against 'two' 50 %."),
        (GOOD, (), "There is nothing to compare yet."),
    ],
)
def test_what_decides(one: tuple[StoredRun, ...], two: tuple[StoredRun, ...], said: str) -> None:
    line = verdict(planted(one, two))
    assert line.endswith(said)
    assert said.startswith(" ") or line == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "consistency",
            "'SimCut' (92.8 % against 89.5 %, so with each of 5 seeds) is better than 'one pass'; 'R-Drop' shows no "
            "difference from 'one pass'.",
        ),
        (
            "diversification",
            "'with pairs of both directions' (40.3 against 39.5) is ahead of 'the corpus alone' in every run, by less "
            "than a point.",
        ),
        (
            "dropout",
            "'none' (74.6 % against 89.5 %, so with each of 5 seeds) and '0.3 there and inside' (82.3 % against "
            "89.5 %, so with each of 5 seeds) are worse than '0.1, the paper's'.",
        ),
    ],
)
def test_stored_experiments(name: str, said: str) -> None:
    assert verdict(arm_runs(EXPERIMENTS[name])) == said
    assert all(verdict(arm_runs(experiment)).endswith(".") for experiment in EXPERIMENTS.values())


VALUES = st.dictionaries(st.integers(0, 9), st.one_of(st.none(), st.floats(-9, 9)), max_size=9)
LOW, HIGH = {seed: float(seed) for seed in range(5)}, {seed: seed + 0.5 for seed in range(6)}


@given(first=VALUES, other=VALUES)
@example(first=LOW, other=HIGH)
@example(first={seed: LOW[seed] for seed in range(4)}, other=HIGH)
@example(first=LOW | {4: 4.5}, other=HIGH)  # a tie is on no side
@example(first=LOW | {5: None}, other=HIGH)  # what one of the seeds did is not known
def test_the_same_arm_is_ahead_with_every_seed_of_both(
    first: dict[int, float | None], other: dict[int, float | None]
) -> None:
    found = seeds_ahead(first, other)
    assert found == seeds_ahead(other, first), "it does not matter which is first"
    shared = first.keys() & other.keys()
    values = [(first[seed], other[seed]) for seed in shared]
    decided = len(values) >= 5 and all(None not in pair for pair in values)
    one_side = decided and (all(a < b for a, b in values) or all(a > b for a, b in values))
    assert found == (len(shared) if one_side else 0)
