"""The verdict in one line: what differs by more than chance explains, what does not, and how often it is wrong."""

from collections.abc import Sequence
from dataclasses import replace
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


def ten(
    score: float = 0.9, *, loss: float = 0.3, late: int = 2, width: float = 0.004, beyond: float = 0.1
) -> tuple[StoredRun, ...]:
    """Ten runs that reach the target at the evaluation `late`, with scores and losses that differ a little."""
    runs = (
        run(seed, score + width * (seed % 5) / 4, loss * (1 + seed / 50), (*(0.5,) * (late - 1), 1.0))
        for seed in range(10)
    )
    return tuple(with_long(each, beyond + width * (each.seed % 5) / 4) for each in runs)


def with_long(one: StoredRun, share: float) -> StoredRun:
    """The same run with a share of the further split right."""
    return replace(one, scores=one.scores | {"long": {"exact_match": share}})


FAILED = tuple(run(seed, 0.0, 0.0, (), scores={}, error="the loss is no longer a number.") for seed in (1, 2))
NEAR, WORSE = "“two” is as good as “one”, within 1 percentage point.", "“two” is worse than “one”."
TOO_FEW, UNDECIDED = "“two” beside “one”: too few runs to tell.", "“two” beside “one”: undecided."
SOONER, LATER = "“two” reaches 99 % sooner than “one”.", "“two” reaches 99 % later than “one”."


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (ten(), ten(0.6), WORSE),
        (ten(0.6), ten(), "“two” is better than “one”."),
        (ten(), ten(), NEAR),
        # Two evaluations (at every tenth update) make a run sooner; one does not.
        (ten(late=5), ten(), f"{SOONER} {NEAR}"),
        (ten(), ten(late=5), f"{LATER} {NEAR}"),
        (ten(), ten(late=3), NEAR),
        (ten(), ten(loss=0.9), f"“two” has a higher loss than “one”. {NEAR}"),
        (ten(), ten(loss=0.5), NEAR),
        # Less than a point is no difference, however sure; runs that overlap decide nothing.
        (ten(width=0.001), ten(0.905, width=0.001), NEAR),
        (ten(width=0.2), ten(0.93, width=0.2), UNDECIDED),
        # Three runs cannot tell even what has no overlap, and the line says so.
        (ten()[:3], ten(0.6)[:3], TOO_FEW),
        (ten()[:3], ten()[:3], TOO_FEW),
        (ten(), ten(0.6)[:2], TOO_FEW),
        (ten(), ten(0.6)[:3], WORSE),
        (ten()[:5], ten(0.6)[:5], WORSE),
        (GOOD, FAILED, "“two” failed in every run."),
        (FAILED, GOOD, "“one” failed in every run."),
        (GOOD[:1], BAD[:1], TOO_FEW),
        (GOOD, (), "There is nothing to compare yet."),
    ],
)
def test_what_is_said(one: tuple[StoredRun, ...], two: tuple[StoredRun, ...], said: str) -> None:
    arms = planted(one, two)
    assert answer(arms) == said
    assert ("too few" in said) == (overall(arms) == "too few" and all(arm.runs for arm in arms))
    claims = ("better", "worse", "sooner", "later", "higher")
    assert differs(arms) == any(claim in said for claim in claims)
    assert measure_of(arms) == ("loss" if "higher" in said else "exact_match")


def test_an_answer_names_both_sides_and_the_table_has_every_number() -> None:
    arms = arms_of([ten(), ten(0.6), ten(0.7, late=5), ten()])
    assert answer(arms) == "“arm 1” and “arm 2” are worse than “arm 0”. “arm 2” reaches 99 % later than “arm 0”."
    assert [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row.values()] for row in rows(arms)] == [
        ["arm 0: 10 runs", "90.2 (90 to 90.4)", ""],
        ["arm 1: 10 runs", "60.2 (60 to 60.4)", "worse"],
        ["arm 2: 10 runs", "70.2 (70 to 70.4)", "worse, more updates (50 against 20)"],
        ["arm 3: 10 runs", "90.2 (90 to 90.4)", "as good within 1 point"],
    ]
    assert "4 test sentences; 4 comparisons of each variant." in conditions(arms)
    assert rows(arms_of([ten(width=0)]))[0]["right (%)"] == "90 (all\N{NO-BREAK SPACE}10)"


def test_lengths_beyond_training_are_compared_and_named_first() -> None:
    arms = arms_of([ten(), ten(0.6, beyond=0.3), ten(beyond=0.02), ten(beyond=0.105)], also="long")
    assert answer(arms) == (
        "“arm 1” is right more often than “arm 0” beyond the trained lengths. "
        "“arm 2” is right less often than “arm 0” beyond the trained lengths."
    )
    assert [[cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row.values()][2:] for row in rows(arms)][1:] == [
        ["30.2 (30 to 30.4)", "better beyond, worse"],
        ["2.2 (2 to 2.4)", "worse beyond, as good within 1 point"],
        ["10.7 (10.5 to 10.9)", "undecided beyond (p = 1.1e−05), as good within 1 point"],
    ]
    assert (measure_of(arms), measure_of(arms_of([ten(), ten(beyond=0.9)]))) == ("beyond", "exact_match")


@pytest.mark.parametrize(
    ("first", "other", "several"),
    [
        (Arm("a"), Arm("b", "schedule=constant warmup_steps=0"), True),
        (Arm("a", "norm_first=false"), Arm("b", "norm_first=false warmup_steps=0"), False),
        (Arm("a"), Arm("b", "n_encoder_heads=1 n_decoder_heads=1"), False),
        (Arm("a"), Arm("b", preset="lstm-tiny"), True),  # its rate is higher, too
        (Arm("a"), Arm("b", preset="decoder-tiny"), False),
    ],
)
def test_a_comparison_that_changes_several_things_says_so(first: Arm, other: Arm, several: bool) -> None:
    arms = [ArmRuns(arm, PLANTED.recipe(arm), ten()) for arm in (first, other)]
    assert ("“b” changes more than one thing" in conditions(arms)) is several
    assert ("rate 0.008" in rows(arms)[1]["variant"]) is (other.preset == "lstm-tiny")


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
    assert rows(arms_of(arms))[1]["verdict"] == verdict


def arms_of(groups: Sequence[Sequence[StoredRun]], also: str = "") -> tuple[ArmRuns, ...]:
    """One arm for each group of runs."""
    arms = [Arm(f"arm {nth}") for nth in range(len(groups))]
    return tuple(ArmRuns(arm, PLANTED.recipe(arm), tuple(runs), also) for arm, runs in zip(arms, groups, strict=True))


def noisy(n: int, seed: int = 5) -> list[StoredRun]:
    """Runs whose scores, updates and losses are drawn from one wide distribution each."""
    rng = np.random.default_rng(seed)
    runs = [
        run(nth, float(rng.random()), float(np.exp(2 * rng.normal())), (*(0.1,) * int(rng.integers(12)), 1.0))
        for nth in range(n)
    ]
    return [with_long(each, float(rng.random())) for each in runs]


@pytest.mark.parametrize("also", ["", "long"])
def test_shuffled_runs_are_called_different_no_more_often_than_stated(also: str) -> None:
    runs = noisy(10)
    splits = [set(chosen) for chosen in combinations(range(10), 5)]
    claimed = [
        differs(arms_of([[runs[i] for i in range(10) if (i in chosen) is one] for one in (True, False)], also))
        for chosen in splits
    ]
    assert len(claimed) == 252
    assert 0 < sum(claimed) / len(claimed) <= LEVEL, "every split of ten runs into two arms: it may claim, but rarely"
    rng, runs, drawn = np.random.default_rng(2), noisy(40), 100
    several = []
    for _ in range(drawn):
        order = rng.permutation(40)
        several.append(differs(arms_of([[runs[i] for i in part] for part in np.split(order, 4)], also)))
    error = 3 * (LEVEL * (1 - LEVEL) / drawn) ** 0.5  # three standard errors of the Monte Carlo estimate
    assert sum(several) / drawn <= LEVEL + error, "any of three arms, beside the first one"


def test_stored_experiments_have_a_verdict() -> None:
    for experiment in EXPERIMENTS.values():
        arms = arm_runs(experiment)
        assert answer(arms).endswith(".")
        assert len(answer(arms).split()) <= 35
        assert not differs(arms) or max(len(arm.runs) for arm in arms) > 3
