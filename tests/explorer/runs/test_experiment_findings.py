"""Sentences, tables, figures and verdicts about experiments: planted runs give known ones."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from explorer.charts.experiment_bands import band_figure, bands, wide
from explorer.runs import experiment_arms
from explorer.runs.experiment_arms import ArmRuns, arm_runs, by_length, mean_and_range, table
from explorer.runs.experiment_findings import answer, conditions, duration_sentence, findings, rows
from explorer.runs.experiment_relations import LEVEL, differs, measure_of, overall
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Arm, Base, Experiment
from model.experiments.stored import StoredRun

PLANTED = Experiment(
    "planted", "Planted", "Which one?", Base("p", "reverse", "tiny"), (Arm("one"), Arm("two", "seed=9"))
)


def run(seed: int, right: float, loss: float, shares: Sequence[float], **more: Any) -> StoredRun:
    """A run with evaluations at 10, 20, … updates."""
    steps, losses = [10.0 * (i + 1) for i in range(len(shares))], [loss] * len(shares)
    given: dict[str, Any] = {
        "seed": seed,
        "command": "python",
        "machine": "Linux x86_64, 2 cores, 1 used",
        "torch": "t",
        "seconds": 2.0,
        "parameters": 100,
        "tokens_per_s": 1000.0,
        "train": {"step": steps, "loss": losses},
        "valid": {"step": steps, "loss": losses, "exact_match": list(shares), "token_accuracy": list(shares)},
        "scores": {"test": {"exact_match": right, "loss": loss, "sentences": 4, "different": 3, "empty": 1}},
    }
    return StoredRun(**given | more)


GOOD = (run(1, 1.0, 0.1, (0.5, 0.99)), run(2, 0.99, 0.2, (0.5, 0.9, 1.0)))
BAD = (run(1, 0.5, 1.0, (0.1, 0.2)), run(2, 0.7, 0.9, (0.1, 0.2)))


def planted(first: Sequence[StoredRun], second: Sequence[StoredRun]) -> tuple[ArmRuns, ...]:
    """The two arms with these runs."""
    pairs = zip(PLANTED.arms, (first, second), strict=True)
    return tuple(ArmRuns(arm, PLANTED.recipe(arm), tuple(runs)) for arm, runs in pairs)


def test_missing_and_failed_runs_are_reported() -> None:
    few = "Runs are missing: “one” has 2 of 3."
    assert findings(planted(GOOD, ()))[:2] == ["Not run yet: “two”.", few]
    assert findings(planted((), ())) == ["Not run yet: “one” and “two”."]
    assert few not in findings(planted((*GOOD, GOOD[0]), ()))
    failed = run(1, 0, 0, (0.1,), scores={}, error="the loss is no longer a number.")
    assert "“two”, seed 1: the loss is no longer a number." in findings(planted(GOOD, (failed, BAD[1])))


def test_the_table_has_mean_range_and_count() -> None:
    first, second = table(planted(GOOD, ()))
    numbers = {"runs": 2, "right on test (%)": 99.5, "right on test (%), lowest": 99.0, "updates until 99 %": 25}
    numbers |= {"runs that reached 99 %": 2, "tokens/s": 1000, "different answers": 3, "empty answers": 1}
    assert first.items() >= {"variant": "one", **numbers}.items()
    assert (second["runs"], second["right on test (%)"], second["parameters"]) == (0, None, None)
    assert not any("long" in name for name in first)
    far = replace(PLANTED, base=replace(PLANTED.base, splits=("long",)))
    one, two = (replace(GOOD[0], scores={"long": {"exact_match": share}}) for share in (0.1, 0.305))
    arms = tuple(ArmRuns(arm, far.recipe(arm), runs) for arm, runs in zip(far.arms, ((one, two), ()), strict=True))
    names = ("right on long (%)", "right on long (%), lowest", "right on long (%), highest")
    assert [[row[name] for name in names] for row in table(arms)] == [[20.2, 10.0, 30.5], [None, None, None]]
    assert mean_and_range([None, None]) is None
    some = mean_and_range([1.0, None, 3.0])
    assert (some.mean, some.low, some.high, some.n) == (2.0, 1.0, 3.0, 2)
    assert experiment_arms.reached_at(BAD[0], 0.99) is None


def test_bands_hold_mean_and_range_at_each_step() -> None:
    ways = {"one": [([10, 20], [50.0, 90.0]), ([10, 20, 30], [70.0, 100.0, 100.0])], "two": [([10], [1.0])]}
    data = bands(ways)
    assert data["x"] == [10, 20, 30, 10]
    assert data["mean"] == [60.0, 95.0, 100.0, 1.0]
    assert (data["low"][0], data["high"][0], data["runs"]) == (50.0, 70.0, [2, 2, 1, 1])
    first, *_ = wide(data)
    assert list(first) == ["at", *(f"{way}, {name}" for way in ways for name in ("mean", "low", "high"))]
    assert list(first.values()) == [10, 60.0, 50.0, 70.0, 1.0, 1.0, 1.0]
    figure = band_figure(ways, x_title="updates", title="Right", unit=" %", top=100.0, mark=15)
    ticks = figure.spec["layer"][0]["encoding"]["y"]["axis"]["values"]
    assert [ticks[0], ticks[-1], len(ticks) % 2] == [0, 100, 1], "the top stays if every second label is left out"
    assert "one 100 % (100 to 100, 1 run) at 30 updates; two 1 % (1 to 1, 1 run) at 10 updates." in figure.caption
    assert set(figure.data["mark"]) == {15}
    assert "Nothing to draw yet" in band_figure({}, x_title="letters", title="", unit=" %").caption


def test_what_the_page_draws_from() -> None:
    arms = planted(GOOD, ())
    curves = experiment_arms.validation_curves(arms, "exact_match")
    assert list(curves) == ["one"]
    (steps, values), _ = curves["one"]
    assert steps == list(GOOD[0].valid["step"])
    assert values == [100.0 * share for share in GOOD[0].valid["exact_match"]]
    rows = experiment_arms.sample_rows(arms)
    assert [row["source"] for row in rows] == [source for source, _, _ in GOOD[0].samples]
    assert all(row["right"] is (row["its answer"] == row["right answer"]) for row in rows)
    told = "day unknown: on Linux x86_64, 2 cores, 1 used, PyTorch t, 2 seconds per run"
    assert duration_sentence(arms[0]).startswith(told)
    # Curves by length go beyond the test split.
    groups = {"test": {"02 letters": 1.0, "01 letters": 0.5}, "long": {"12 letters": 0.25}, "valid": {"words": 1.0}}
    lengths = replace(GOOD[0], groups=groups)
    assert by_length(lengths, "test") == {1.0: 50.0, 2.0: 100.0}
    assert by_length(lengths, "valid") == by_length(GOOD[0], "test") == {}
    curves_by_length = {"one": [([1.0, 2.0, 12.0], [50.0, 100.0, 25.0])]}
    assert experiment_arms.length_curves(planted((lengths,), ())) == (curves_by_length, 2.0)


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
