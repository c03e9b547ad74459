"""The verdict in one line: what differs by more than chance explains, what does not, and how often it is wrong."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from explorer.runs.experiment_arms import ArmRuns, arm_runs
from explorer.runs.experiment_findings import answer, conditions, numbers
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
AS_GOOD = "“two” is as good as “one”."
TOO_FEW = "These runs are too few to tell “two” from “one”; {} runs of each variant could."


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (ten(), ten(0.6), "“two” is worse than “one”."),
        (ten(0.6), ten(), "“two” is better than “one”."),
        (ten(), ten(), AS_GOOD),
        # Two evaluations (at every tenth update) make a run sooner; one does not.
        (ten(late=5), ten(), f"“two” reaches 99 % on validation after fewer updates than “one”. {AS_GOOD}"),
        (ten(), ten(late=5), f"“two” reaches 99 % on validation after more updates than “one”. {AS_GOOD}"),
        (ten(), ten(late=3), AS_GOOD),
        (ten(), ten(loss=0.9), f"“two” has a higher loss than “one”. {AS_GOOD}"),
        (ten(), ten(loss=0.5), AS_GOOD),
        # Less than a point is no difference, however sure; runs that overlap decide nothing.
        (ten(width=0.001), ten(0.905, width=0.001), AS_GOOD),
        (
            ten(width=0.2),
            ten(0.93, width=0.2),
            "“two” is not shown to differ from “one”, nor to be within 1 percentage point of it.",
        ),
        # Three runs cannot tell even what has no overlap, and the line says so, and how many could.
        (ten()[:3], ten(0.6)[:3], TOO_FEW.format(5)),
        (ten()[:3], ten()[:3], TOO_FEW.format(5)),
        (ten(), ten(0.6)[:2], TOO_FEW.format(3)),
        (ten(), ten(0.6)[:3], "“two” is worse than “one”."),
        (ten()[:5], ten(0.6)[:5], "“two” is worse than “one”."),
        (GOOD, FAILED, "“two” failed in every run."),
        (FAILED, GOOD, "“two” is not comparable with “one”, whose runs all failed."),
        (GOOD[:1], BAD[:1], TOO_FEW.format(5)),
        (GOOD, (), "There is nothing to compare yet."),
    ],
)
def test_what_is_said(one: tuple[StoredRun, ...], two: tuple[StoredRun, ...], said: str) -> None:
    arms = planted(one, two)
    assert " ".join(answer(arms)) == said
    assert ("too few" in said) == (overall(arms) == "too few" and all(arm.runs for arm in arms))
    claims = ("is better", "is worse", "after fewer", "after more", "has a higher")
    assert differs(arms) == any(claim in said for claim in claims)
    assert measure_of(arms) == ("loss" if "has a higher" in said else "exact_match")


def test_every_variant_has_its_number_and_those_of_one_verdict_share_a_sentence() -> None:
    arms = arms_of([ten(), ten(0.6), ten(0.7, late=5), ten()])
    worse, slower, alike = answer(arms)
    assert worse == "“arm 1” and “arm 2” are worse than “arm 0”."
    assert slower.startswith("“arm 2” reaches 99 % on validation after more updates")
    assert alike == "“arm 3” is as good as “arm 0”."
    assert numbers(PLANTED, arms) == (
        "Right on test: “arm 0” 90.2 % (90 % to 90.4 %) in 10 runs, “arm 1” 60.2 % (60 % to 60.4 %) in 10 runs, "
        "“arm 2” 70.2 % (70 % to 70.4 %) in 10 runs and “arm 3” 90.2 % (90 % to 90.4 %) in 10 runs. "
        "Updates: “arm 0” 20 in 10 runs and “arm 2” 50 in 10 runs."
    )
    assert [each.split()[3] for each in answer(arms_of([ten(0.6), ten(), ten(0.5)]))] == ["better", "worse"]


@pytest.mark.parametrize(
    ("arms", "p"),
    [
        ([(*ten()[:9], *ten(0.5)[:1]), ten(0.7)[:4], *[ten()] * 3], "open that “arm 1” differs (p = 0.018)."),
        ([(*ten()[:9], *ten(0.914)[:1]), ten()[:3]], "open that “arm 1” is as good (p = 0.021)."),
        ([ten(), ten(0.6), ten()], ""),  # all verdicts are made
        ([ten(width=0.2), ten(0.93, width=0.2)], ""),  # would be missed without the correction as well
    ],
)
def test_the_p_of_what_only_the_correction_leaves_open_is_shown(arms: list[tuple[StoredRun, ...]], p: str) -> None:
    said = numbers(PLANTED, arms_of(arms))
    assert ("leaves open" in said) == bool(p)
    assert p in said


@pytest.mark.parametrize(("sentences", "coarse"), [(96, True), (100, False), (1505, False)])
def test_a_sentence_larger_than_the_margin_is_said(sentences: int, coarse: bool) -> None:
    scores = {"test": {"exact_match": 1.0, "loss": 0.1, "sentences": sentences}}
    arms = planted(*[[replace(each, scores=scores) for each in ten()]] * 2)
    assert ("One test sentence is 1.04 percentage points" in conditions(arms)) is coarse
    assert "highest learning rate 0.004, 100 parameters" in conditions(arms)


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
        assert all(each.endswith(".") for each in answer(arms))
        assert not differs(arms) or max(len(arm.runs) for arm in arms) > 3
