"""The verdict in one line: what differs by more than chance explains, what does not, and how often it is wrong."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from explorer.runs.experiment_arms import ArmRuns, arm_runs
from explorer.runs.experiment_findings import headline, in_short, statements
from explorer.runs.experiment_relations import LEVEL, differs, measure_of, overall
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Arm
from model.experiments.stored import StoredRun
from tests.explorer.runs.test_experiment_findings import BAD, GOOD, PLANTED, planted, run


def ten(score: float = 0.9, *, loss: float = 0.3, late: int = 2, width: float = 0.004) -> tuple[StoredRun, ...]:
    """Ten runs that reach the target at the evaluation `late`, with scores and losses that differ a little."""
    return tuple(
        run(seed, score + width * (seed % 5) / 4, loss * (1 + seed / 50), (*(0.5,) * (late - 1), 1.0))
        for seed in range(10)
    )


FAILED = tuple(run(seed, 0.0, 0.0, (), scores={}, error="the loss is no longer a number.") for seed in (1, 2))
FIRST_AFTER = (
    "“two” reaches 99 % on validation for the first time after {} updates than “one”: {} updates, 10 runs each. "
)
NUMBERS = "90.2 % (90 % to 90.4 %) against 90.2 % (90 % to 90.4 %) right on test, 10 runs each"


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (
            ten(),
            ten(0.6),
            "“two” is worse than “one”: 60.2 % (60 % to 60.4 %) against 90.2 % (90 % to 90.4 %) right on test, 10 runs "
            "each.",
        ),
        (
            ten(0.6),
            ten(),
            "“two” is better than “one”: 90.2 % (90 % to 90.4 %) against 60.2 % (60 % to 60.4 %) right on test, "
            "10 runs each.",
        ),
        (ten(), ten(), f"“two” is as good as “one”, within 1 percentage point: {NUMBERS}."),
        # Two evaluations (at every tenth update) make a run sooner; one does not.
        (ten(late=5), ten(), FIRST_AFTER.format("fewer", "20 against 50")),
        (ten(), ten(late=5), FIRST_AFTER.format("more", "50 against 20")),
        (ten(), ten(late=3), f"“two” is as good as “one”, within 1 percentage point: {NUMBERS}."),
        (
            ten(),
            ten(loss=0.9),
            "“two” has a higher loss than “one”: 0.98 (0.90 to 1.1) against 0.33 (0.30 to 0.35) nats per token on test",
        ),
        (ten(), ten(loss=0.5), f"“two” is as good as “one”, within 1 percentage point: {NUMBERS}."),
        # Less than a point is no difference, however sure; runs that overlap decide nothing.
        (ten(width=0.001), ten(0.905, width=0.001), "“two” is as good as “one”, within 1 percentage point: 90.5 % ("),
        (
            ten(width=0.2),
            ten(0.93, width=0.2),
            "“two” is neither clearly different from “one” nor clearly as good, within 1 percentage point: 103 % "
            "(93 % to 113 %) against 100 % (90 % to 110 %) right on test, 10 runs each.",
        ),
        # Three runs cannot tell even what has no overlap, and the line says so, and how many could.
        (
            ten()[:3],
            ten(0.6)[:3],
            "These runs are too few to tell “two” from “one”: 60.1 % (60 % to 60.2 %) against 90.1 % (90 % to 90.2 %) "
            "right on test, 3 runs each; 5 runs of each variant could.",
        ),
        (ten()[:3], ten()[:3], "These runs are too few to tell “two” from “one”"),
        (ten(), ten(0.6)[:2], "2 runs against 10; 3 runs of each variant could."),
        (ten(), ten(0.6)[:3], "“two” is worse than “one”"),
        (ten()[:5], ten(0.6)[:5], "“two” is worse than “one”"),
        (GOOD, FAILED, "“two” failed in every run."),
        (FAILED, GOOD, "“two” is not comparable with “one”, whose runs all failed."),
        (
            GOOD[:1],
            BAD[:1],
            "tell “two” from “one”: 50 % against 100 % right on test, 1 run each; 5 runs of each variant could.",
        ),
        (GOOD, (), "There is nothing to compare yet."),
    ],
)
def test_what_is_said(one: tuple[StoredRun, ...], two: tuple[StoredRun, ...], said: str) -> None:
    arms = planted(one, two)
    assert said in " ".join(statements(arms))
    assert ("too few" in " ".join(statements(arms))) == (overall(arms) == "too few" and all(arm.runs for arm in arms))
    claims = ("is better", "is worse", "after fewer", "after more", "has a higher")
    assert differs(arms) == any(claim in said for claim in claims)
    assert measure_of(arms) == ("loss" if "has a higher" in said else "exact_match")


def test_the_headline_names_every_variant_that_differs_with_its_number_and_those_that_do_not() -> None:
    arms = arms_of([ten(), ten(0.6), ten(0.7), ten()])
    assert in_short(arms) == (
        "“arm 1” with 60.2 % (60 % to 60.4 %) and “arm 2” with 70.2 % (70 % to 70.4 %) are worse than “arm 0” with "
        "90.2 % (90 % to 90.4 %): right on test, 10 runs each. “arm 3” is as good as “arm 0”, within 1 percentage "
        f"point: {NUMBERS}."
    )
    better = in_short(arms_of([ten(0.6), ten(), ten(0.5)]))
    assert "“arm 1” is better than “arm 0”" in better
    assert "“arm 2” is worse than “arm 0”" in better
    first, rest = headline(arms)
    assert (len(first), len(rest)) == (1, 1)
    assert in_short(alike := arms_of([ten(), ten()])) == " ".join(statements(alike)), "said once"


def arms_of(groups: Sequence[Sequence[StoredRun]]) -> tuple[ArmRuns, ...]:
    """One arm for each group of runs."""
    arms = [Arm(f"arm {nth}") for nth in range(len(groups))]
    return tuple(ArmRuns(arm, PLANTED.recipe(arm), tuple(runs)) for arm, runs in zip(arms, groups, strict=True))


def noisy(n: int, seed: int = 5) -> list[StoredRun]:
    """Runs whose scores, updates and losses are drawn from one wide distribution each."""
    rng = np.random.default_rng(seed)
    return [
        run(nth, float(rng.random()), float(np.exp(2 * rng.normal())), (*(0.1,) * int(rng.integers(12)), 1.0))
        for nth in range(n)
    ]


def test_shuffled_runs_are_called_different_no_more_often_than_stated() -> None:
    runs = noisy(10)
    splits = [set(chosen) for chosen in combinations(range(10), 5)]
    claimed = [
        differs(arms_of([[runs[i] for i in range(10) if (i in chosen) is one] for one in (True, False)]))
        for chosen in splits
    ]
    assert len(claimed) == 252
    assert 0 < sum(claimed) / len(claimed) <= LEVEL, "every split of ten runs into two arms: it may claim, but rarely"
    rng, runs, drawn = np.random.default_rng(2), noisy(40), 100
    several = []
    for _ in range(drawn):
        order = rng.permutation(40)
        several.append(differs(arms_of([[runs[i] for i in part] for part in np.split(order, 4)])))
    error = 3 * (LEVEL * (1 - LEVEL) / drawn) ** 0.5  # three standard errors of the Monte Carlo estimate
    assert sum(several) / drawn <= LEVEL + error, "any of three arms, beside the first one"


def test_stored_experiments_have_a_verdict() -> None:
    for experiment in EXPERIMENTS.values():
        arms = arm_runs(experiment)
        assert all(each.endswith(".") for each in statements(arms))
        assert not differs(arms) or max(len(arm.runs) for arm in arms) > 3
        assert "no difference" not in " ".join(statements(arms))
