"""Sentences, tables, figures and verdicts about experiments: planted runs give known ones."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import e
from typing import Any

import numpy as np
import pytest

from explorer.charts.experiment_bands import band_figure, bands, wide
from explorer.charts.forest import forest_figure, place, shift_ticks
from explorer.locale.language import written_in
from explorer.runs import experiment_arms
from explorer.runs.command import TrainingOrder
from explorer.runs.experiment_arms import ArmRuns, arm_runs, by_length, mean_and_range, table, with_ranges
from explorer.runs.experiment_findings import (
    answer,
    answers,
    conditions,
    cost_rows,
    failures,
    finding,
    named,
    no_single_cause,
    shift_rows,
    verdict_word,
)
from explorer.runs.experiment_relations import LEVEL, Compared, compared, differs, leading, overall
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Arm, Base, Experiment, Yes
from model.experiments.stored import ResultError, StoredRun
from model.presets import PRESETS

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


def test_failed_runs_are_reported() -> None:
    failed = run(1, 0, 0, (0.1,), scores={}, error="the loss is no longer a number.")
    assert failures(planted(GOOD, (failed, BAD[1]))) == ["“two”, seed 1: the loss is no longer a number."]


def test_the_table_has_mean_range_and_count() -> None:
    first, second = table(planted(GOOD, ()))
    numbers = {"runs": 2, "right on test (%)": 99.5, "right on test (%), lowest": 99.0, "updates until 99 %": 25}
    numbers |= {"runs that reached 99 %": 2, "different answers": 3, "empty answers": 1}
    assert first.items() >= {"variant": "one", **numbers}.items()
    assert (second["runs"], second["right on test (%)"]) == (0, None)
    assert not any("long" in name for name in first)
    far = replace(PLANTED, base=replace(PLANTED.base, splits=("long",)))
    one, two = (replace(GOOD[0], scores={"long": {"exact_match": share}}) for share in (0.1, 0.305))
    arms = tuple(ArmRuns(arm, far.recipe(arm), runs) for arm, runs in zip(far.arms, ((one, two), ()), strict=True))
    names = ("right on long (%)", "right on long (%), lowest", "right on long (%), highest")
    assert [[row[name] for name in names] for row in table(arms)] == [[20.2, 10.0, 30.5], [None, None, None]]
    assert [row[names[0]] for row in with_ranges(table(arms))] == ["20.2 (10.0 to 30.5)", None], "digits of a column"
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
    assert list(first) == ["at", *(f"{way}{end}" for way in ways for end in ("", ", lowest", ", highest"))]
    assert list(first.values()) == [10, 60.0, 50.0, 70.0, 1.0, 1.0, 1.0]
    brief = [list(row.values()) for row in with_ranges(wide(data))]
    assert brief[0] == [10, "60 (50 to 70)", "1"], "a range of one run is its mean"
    assert brief[2] == [30, "100", None], "a curve that has ended"
    figure = band_figure(ways, x_title="updates", title="Right", unit=" %", top=100.0, mark=15)
    ticks = figure.spec["layer"][0]["encoding"]["y"]["axis"]["values"]
    assert [ticks[0], ticks[-1], len(ticks) % 2] == [0, 100, 1], "the top stays if every second label is left out"
    assert set(figure.data["mark"]) == {15}
    ends = band_figure(ways, x_title="updates", title="Right", unit=" %").caption
    uneven = {"one": [([10, 20], [5.0, 9.0])], "two": [([10, 100], [5.0, 9.0])]}
    titles = [band_figure(each, x_title="updates", title="Right", unit=" %").title for each in (ways, uneven)]
    assert titles == ["Right", "Right (logarithmic axis)"]
    end = "first: one: 100.0 % (100.0 to 100.0, 1 run) at 30 updates; two: 1.0 % (1.0 to 1.0, 1 run) at 10 updates."
    assert ends.endswith(end)
    same = {name: [([10, 20], [0.5, 0.07123])] for name in ("a", "b")}
    assert band_figure(same, x_title="updates", title="Loss", unit="").caption == (
        "On validation at 20 updates, mean and range over the runs, highest first: "
        "a: 0.0712 (0.0712 to 0.0712, 1 run); b: 0.0712 (0.0712 to 0.0712, 1 run)."
    )
    falls = {"a": [([1, 2, 3, 4], [100.0, 50.0, 10.0, 60.0])], "b": [([1, 2, 3, 4], [90.0, 80.0, 50.0, 0.0])]}
    falls["never"] = [([1, 2], [40.0, 30.0])]
    by_length = band_figure(falls, x_title="letters", title="Right", unit=" %", mark=2.5)
    assert "in letters: b 3; a 2; never 0." in by_length.caption, "what is right again later does not count"
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
    # Curves by length go beyond the test split.
    groups = {"test": {"02 letters": 1.0, "01 letters": 0.5}, "long": {"12 letters": 0.25}, "valid": {"words": 1.0}}
    lengths = replace(GOOD[0], groups=groups)
    assert by_length(lengths, "test") == {1.0: 50.0, 2.0: 100.0}
    assert by_length(lengths, "valid") == by_length(GOOD[0], "test") == {}
    curves_by_length = {"one": [([1.0, 2.0, 12.0], [50.0, 100.0, 25.0])]}
    assert experiment_arms.length_curves(planted((lengths,), ())) == (curves_by_length, 2.0)


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
OPEN, NONE = "undecided", "not compared"
SOME = "size open"


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (ten(), ten(0.6), ("worse", "as soon", "alike")),
        (ten(0.6), ten(), ("better", "as soon", "alike")),
        (ten(), ten(), ("as good", "as soon", "alike")),
        # Two evaluations (at every tenth update) make a difference; one does not.
        (ten(late=5), ten(), ("as good", "sooner", "alike")),
        (ten(), ten(late=5), ("as good", "later", "alike")),
        (ten(), ten(late=3), ("as good", "as soon", "alike")),
        (ten(), ten(loss=0.9), ("as good", "as soon", "higher")),
        (ten(loss=0.9), ten(), ("as good", "as soon", "lower")),
        (ten(), ten(loss=0.5), ("as good", "as soon", "alike")),
        # Less than a point is no difference, however sure; runs that overlap decide nothing.
        (ten(width=0.001), ten(0.905, width=0.001), ("as good", "as soon", "alike")),
        (ten(width=0.2), ten(0.93, width=0.2), (OPEN, "as soon", "alike")),
        # A sure difference that may be smaller than a point, or larger.
        (ten(), ten(0.909), (f"better, {SOME}", "as soon", "alike")),
        (ten(0.909), ten(), (f"worse, {SOME}", "as soon", "alike")),
        (ten(), ten(loss=0.57), ("as good", "as soon", f"higher, {SOME}")),
        # Three runs cannot tell even what has no overlap, and the line says so.
        (ten()[:3], ten(0.6)[:3], ("too few runs",) * 3),
        (ten(), ten(0.6)[:2], ("too few runs",) * 3),
        (ten(), ten(0.6)[:3], ("worse", "as soon", "alike")),
        (ten()[:5], ten(0.6)[:5], ("worse", "as soon", "alike")),
        (ten(), FAILED * 2, ("worse", NONE, NONE)),
        (FAILED * 2, ten(), ("better", NONE, NONE)),
        (ten(), [*ten()[:9], replace(ten()[9], valid=BAD[0].valid)], ("as good", NONE, "alike")),
        (GOOD[:1], BAD[:1], ("too few runs", NONE, "too few runs")),
        (GOOD, (), ()),
    ],
)
def test_every_comparison_has_its_verdict(
    one: Sequence[StoredRun], two: Sequence[StoredRun], said: tuple[str, ...]
) -> None:
    arms = planted(one, two)
    measures = compared(arms)
    assert tuple(word for each in measures for word in verdicts(each)) == said
    claims = {"better", "worse", "sooner", "later", "higher", "lower"} & {*said}
    assert differs(arms) is bool(claims)
    assert [verdicts(each)[0] in claims for each in leading(measures)] == [True] * bool(claims)
    if said and not claims:
        assert overall(measures) == {"as good": "equal", "too few runs": "too few"}.get(said[0], "undecided")


def verdicts(what: Compared) -> list[str]:
    return [verdict_word(what, row.verdict) for row in what.rows]


def test_findings_have_each_mean_and_the_intervals_that_are_asked_for() -> None:
    arms = arms_of([ten(), ten(0.6), ten(0.7, late=5), ten()[:5]])
    score, updates, loss = compared(arms)
    assert finding(score, intervals=True) == (
        "Right on test after 20 to 50 updates: “arm 1” (60.2 %, shift −30.2 to −29.8) and “arm 2” (70.2 %, shift −20.2 "
        "to −19.8) are worse than “arm 0” (90.2 %). As good: “arm 3” (90.2 %, shift −0.3 to +0.3)."
    )
    assert verdicts(updates) == ["as soon", "later", "as soon"]
    assert "beside “arm 0” (0.33 nats): alike." in finding(loss)
    assert answer(updates) == "“arm 2” (50) is later than “arm 0” (20). As soon: “arm 1” (20) and “arm 3” (20)."
    row = {"variant": "arm 3", "points more": "0.0 (−0.3 to +0.3)", "verdict": "as good"}
    assert shift_rows(score)[2] == row
    some = compared(arms_of([ten(), [*ten()[:9], replace(ten()[9], valid=BAD[0].valid)]]))[1]
    assert list(shift_rows(some)[0].values()) == ["arm 1", "", "9 of 10 reached it"], "why it is not compared"
    assert "4 test sentences; 9 comparisons." in conditions(arms)


SURE, OPEN_SIZE, WIDE = ten(0.6), ten(0.909), ten(0.93, width=0.2)  # beside `ten()`: worse, better, undecided


@pytest.mark.parametrize(
    ("yes", "others", "word"),
    [
        ("lower", (SURE,), "Yes, here."),
        ("lower", (ten(), SURE), "Yes, here."),
        ("lower", (ten(), OPEN_SIZE), "No, not here."),
        ("higher", (SURE,), "No, not here."),
        ("higher", (ten(0.95),), "Yes, here."),
        ("either", (SURE,), "Yes, here."),
        ("either", (ten(0.95),), "Yes, here."),
        ("either", (ten(),), "No, not here."),
        # What is open answers nothing, nor does one arm for all.
        ("lower", (WIDE,), ""),
        ("lower", (ten(), WIDE), ""),
        ("higher", (OPEN_SIZE,), ""),
        ("either", (OPEN_SIZE,), ""),
        ("higher", (SURE[:3], ten()[:2]), ""),
        ("lower", (ten(late=9),), "No, not here."),  # later, and as good: only scores answer
        ("", (SURE,), ""),
    ],
)
def test_a_question_is_answered_by_yes_or_no_only_where_the_scores_decide(
    yes: Yes, others: Sequence[Sequence[StoredRun]], word: str
) -> None:
    first = ten(width=0.2) if WIDE in others else ten()
    found = answers(yes, compared(arms_of([first, *others])))
    said = {what.measure: (reply, text) for what, reply, text in found}
    assert (said["score"][0], said["score"][1][:20]) == (word, "Right on test after ")
    assert [reply for reply, _ in said.values() if reply] == [word] * bool(word)
    assert ("updates" in said) is (others == (ten(late=9),)), "updates are told if an arm differs by them"


def test_an_answer_says_what_is_open_with_the_intervals_that_are_asked_for() -> None:
    wide, sure = ten(width=0.2), ten(0.909)
    score, *_ = compared(arms_of([wide, WIDE, WIDE]))
    assert answer(score).endswith("and “arm 2” (103.0 %) beside “arm 0” (100.0 %): undecided.")
    score, *_ = compared(arms_of([ten(), sure, ten(0.6)[:1]]))
    end = "is better than “arm 0” (90.2 %). By how much is open. Too few runs: “arm 2” (60.0 %)."
    assert answer(score) == f"“arm 1” (91.1 %) {end}"
    assert answer(score, intervals=True) == f"“arm 1” (91.1 %, shift +0.7 to +1.1) {end}"
    _, updates, _ = compared(arms_of([ten(), ten(late=9), FAILED * 2]))
    assert answer(updates) == "“arm 1” (90) is later than “arm 0” (20). Not compared: “arm 2” (–)."


def test_a_forest_has_each_interval_the_margin_and_greys_what_is_undecided() -> None:
    either = [replace(each, scores={"test": {"exact_match": (0.5, 1.0)[each.seed % 2], "loss": 0.3}}) for each in ten()]
    score, *_ = compared(arms_of([ten(), ten(0.6), either, ten()[:2]]))
    figure = forest_figure(score)
    texts = [
        "arm 0\n90.2 %, n = 10",
        "arm 1\n60.2 %, n = 10, worse",
        "arm 2\n75.0 %, n = 10, undecided",
        "arm 3\n90.1 %, n = 2, too few runs",
    ]
    assert figure.data["text"][:4] == texts
    assert figure.data["says"][:4] == ["", "−30.0 (−30.2 to −29.8)", *figure.data["says"][2:3], "too few runs"]
    assert figure.data["decided"][:4] == [True, True, False, False]
    low, high = figure.data["low"][:4], figure.data["high"][:4]
    assert low[::3] == high[::3] == [None, None], "too few runs have no interval"
    assert [low[1], high[1]] == pytest.approx([place(score.rows[0].low, 1.0), place(score.rows[0].high, 1.0)])
    assert (figure.title, {*figure.data["from"]}, {*figure.data["to"]}) == (named(score), {-1.0}, {1.0})
    runs = [(text, run) for text, run in zip(figure.data["text"], figure.data["run"], strict=True) if run is not None]
    assert [text for text, _ in runs] == [
        text for text, n in zip(texts, (10, 10, 10, 2), strict=True) for _ in range(n)
    ]
    assert [run for _, run in runs[:10:4]] == pytest.approx([-0.2, 0.2, 0.1]), "points from the median of 90.2 %"
    assert runs[20][1] == pytest.approx(place(-40.2, 1.0))
    losses = forest_figure(compared(arms_of([ten(), ten(loss=0.6)]))[2]).data["run"]
    assert losses[2] == pytest.approx(0.3 / (0.3 * 1.09)), "a factor of the median loss"
    with written_in("de"):
        marks = forest_figure(score).spec["config"]["locale"]["number"]
    assert (marks["decimal"], marks["thousands"]) == (",", "."), "the axes' numbers are the language's"
    slow = compared(arms_of([ten(), [*ten()[:4], replace(ten()[4], valid=BAD[0].valid)]]))[1]
    assert "arm 1\n4 of 5 reached it" in forest_figure(slow).data["text"]


@pytest.mark.parametrize(
    ("shift", "at"), [(0.0, 0.0), (50.0, 0.5), (-100.0, -1.0), (100 * e, 2.0), (-100 * e**2, -3.0)]
)
def test_shifts_are_drawn_linearly_within_the_margin_and_by_their_logarithm_outside(shift: float, at: float) -> None:
    assert place(shift, 100.0) == pytest.approx(at)


def test_only_arms_without_a_right_answer_in_any_run_are_called_0_in_every_run() -> None:
    one_right = [*ten(0.0, width=0.0)[:9], replace(ten()[9], scores={"test": {"exact_match": 0.001, "loss": 0.3}})]
    score, _, loss = compared(arms_of([ten(), ten(0.0, width=0.0), one_right]))
    texts = forest_figure(score).data["text"]
    assert texts[1:3] == ["arm 1\n0 in every run, n = 10, worse", "arm 2\n0.0 %, n = 10, worse"]
    assert not any("0 in every run" in text for text in forest_figure(loss).data["text"])


@pytest.mark.parametrize(
    ("least", "most", "margin", "loss", "ticks"),
    [
        (-3.25, 7.25, 1.0, False, (-5, -1, 0, 1, 10)),
        (-96.3, 1.1, 1.0, False, (-100, -10, -1, 0, 1, 2)),
        (-20, 60, 20.0, False, (-20, 0, 20, 100)),
        (-100, 100, 100.0, False, (-100, 0, 100)),
        (0.5, 158, 2.0, True, (0.5, 1, 2, 10, 100, 200)),
        (0.03, 2, 2.0, True, (0.02, 0.1, 0.5, 1, 2)),
    ],
)
def test_no_interval_goes_beyond_the_ticks_of_its_axis(
    least: float, most: float, margin: float, *, loss: bool, ticks: tuple[float, ...]
) -> None:
    found = shift_ticks(least, most, margin, loss=loss)
    assert found == pytest.approx(ticks)
    assert found[0] <= least
    assert most <= found[-1]


def test_lengths_beyond_training_are_compared_too() -> None:
    arms = arms_of([ten(), ten(0.6, beyond=0.3), ten(beyond=0.02), ten(beyond=0.105)], also="long")
    score, beyond, *_ = compared(arms)
    assert verdicts(score) == ["worse", "as good", "as good"]
    assert (
        answer(beyond)
        == "“arm 1” (30.2 %) is better than “arm 0” (10.2 %). Worse: “arm 2” (2.2 %). As good: “arm 3” (10.7 %)."
    )
    assert leading(compared(arms)) == [score, beyond]
    assert "12 comparisons" in conditions(arms)
    longer = compared(arms_of([ten(), ten(beyond=0.3)], also="long"))
    assert [each.measure for each in leading(longer)] == ["beyond"]


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
    assert ("“b” changes more than one thing" in no_single_cause(arms)) is several
    assert (cost_rows(arms)[1]["highest rate"] == "0.008") is (other.preset == "lstm-tiny")


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
        measures = compared(arms)
        assert len(measures) == (4 if experiment.also else 3)
        for each in measures:
            assert all(row.low <= row.shift <= row.high for row in each.rows if row.verdict != "not compared")
        assert not differs(arms) or max(len(arm.runs) for arm in arms) > 3


@pytest.mark.parametrize(
    ("order", "result"),
    [
        (
            TrainingOrder("x", "reverse", "tiny"),
            "99.6 % (98.6 % to 99.9 %) right on test, the mean and range of 10",
        ),
        (TrainingOrder("x", "reverse", "tiny", changes=(("seed", "9"), ("eval_every", "10"))), "10 runs"),
        (TrainingOrder("x", "reverse", "tiny", changes=(("positions", "rope"),)), "4 runs"),
        (TrainingOrder("x", "reverse", "tiny", changes=(("max_steps", "749"),)), ""),
        (TrainingOrder("x", "reverse", "tiny", changes=(("stop_when_right", "3"),)), ""),
        (TrainingOrder("x", "reverse", "tiny", init="reverse"), ""),
        (TrainingOrder("x", "dates", "tiny"), ""),
    ],
)
def test_a_result_is_expected_only_where_runs_had_the_very_settings(order: TrainingOrder, result: str) -> None:
    said = experiment_arms.expected_sentence(order, PRESETS[order.preset])
    assert result in said
    assert bool(said) == bool(result)


def test_damaged_results_let_nothing_be_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(recipe: object) -> None:
        raise ResultError("reverse.json is damaged")

    experiment_arms._stored.cache_clear()
    monkeypatch.setattr(experiment_arms, "read_runs", damaged)
    assert experiment_arms.expected_sentence(TrainingOrder("x", "reverse", "tiny"), PRESETS["tiny"]) == ""
    experiment_arms._stored.cache_clear()
