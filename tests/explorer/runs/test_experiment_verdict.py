"""The verdict in one line: what differs by more than chance explains, what does not, and how often it is wrong."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from explorer.runs.experiment_arms import ArmRuns, arm_runs
from explorer.runs.experiment_findings import answer, conditions, rows
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
NEAR, WORSE = "“two”: as good within 1 point.", "“two”: worse."
TOO_FEW = "“two”: too few runs."


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (ten(), ten(0.6), WORSE),
        (ten(0.6), ten(), "“two”: better."),
        (ten(), ten(), NEAR),
        # Two evaluations (at every tenth update) make a run sooner; one does not.
        (ten(late=5), ten(), "“two”: fewer updates, as good within 1 point."),
        (ten(), ten(late=5), "“two”: more updates, as good within 1 point."),
        (ten(), ten(late=3), NEAR),
        (ten(), ten(loss=0.9), "“two”: higher loss, as good within 1 point."),
        (ten(), ten(loss=0.5), NEAR),
        # Less than a point is no difference, however sure; runs that overlap decide nothing.
        (ten(width=0.001), ten(0.905, width=0.001), NEAR),
        (ten(width=0.2), ten(0.93, width=0.2), "“two”: undecided."),
        # Three runs cannot tell even what has no overlap, and the line says so.
        (ten()[:3], ten(0.6)[:3], TOO_FEW),
        (ten()[:3], ten()[:3], TOO_FEW),
        (ten(), ten(0.6)[:2], TOO_FEW),
        (ten(), ten(0.6)[:3], WORSE),
        (ten()[:5], ten(0.6)[:5], WORSE),
        (GOOD, FAILED, "“two”: failed in every run."),
        (FAILED, GOOD, "“two”: not comparable."),
        (GOOD[:1], BAD[:1], TOO_FEW),
        (GOOD, (), "There is nothing to compare yet."),
    ],
)
def test_what_is_said(one: tuple[StoredRun, ...], two: tuple[StoredRun, ...], said: str) -> None:
    arms = planted(one, two)
    assert answer(arms) == said
    assert ("too few" in said) == (overall(arms) == "too few" and all(arm.runs for arm in arms))
    claims = ("better", "worse", "fewer", "more", "higher")
    assert differs(arms) == any(claim in said for claim in claims)
    assert measure_of(arms) == ("loss" if "higher" in said else "exact_match")


def test_an_answer_has_ten_words_and_the_table_every_number() -> None:
    arms = arms_of([ten(), ten(0.6), ten(0.7, late=5), ten()])
    assert answer(arms) == "“arm 1”: worse; “arm 2”: worse, more updates."
    assert answer(arms_of([ten(), ten(0.6), ten(0.5), ten()])) == "2 variants: worse; “arm 3”: as good within 1 point."
    assert [list(row.values()) for row in rows(PLANTED, arms)] == [
        ["arm 0, 10", "90.2 (90 to 90.4)", ""],
        ["arm 1, 10", "60.2 (60 to 60.4)", "worse"],
        ["arm 2, 10", "70.2 (70 to 70.4)", "worse, more updates (50 against 20)"],
        ["arm 3, 10", "90.2 (90 to 90.4)", "as good within 1 point"],
    ]
    assert "rate 0.004, 4 test sentences, 12 comparisons." in conditions(arms)


@pytest.mark.parametrize(
    ("arms", "verdict"),
    [
        ([(*ten()[:9], *ten(0.5)[:1]), ten(0.7)[:4], *[ten()] * 3], "undecided (p = 0.018)"),
        ([(*ten()[:9], *ten(0.914)[:1]), ten()[:3]], "undecided (p = 0.021)"),
        ([ten(), ten(0.6), ten()], "worse"),  # all verdicts are made
        ([ten(width=0.2), ten(0.93, width=0.2)], "undecided"),  # would be missed without the correction as well
    ],
)
def test_the_p_of_what_only_the_correction_leaves_open_is_shown(
    arms: list[tuple[StoredRun, ...]], verdict: str
) -> None:
    assert rows(PLANTED, arms_of(arms))[1]["verdict"] == verdict


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
        assert answer(arms).endswith(".")
        assert len(answer(arms).split()) <= 10
        assert not differs(arms) or max(len(arm.runs) for arm in arms) > 3
