"""Sentences about experiments are computed from the stored runs: planted runs give known sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from explorer.charts.experiment_bands import band_figure, bands, legend_columns, wide
from explorer.runs.experiment_arms import (
    ArmRuns,
    arm_runs,
    by_length,
    length_curves,
    mean_and_range,
    reached_at,
    sample_rows,
    table,
    validation_curves,
)
from explorer.runs.experiment_findings import (
    answers_sentence,
    duration_sentence,
    findings,
    other_split_sentences,
    speed_sentence,
)
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Arm, Base, Experiment
from model.experiments.stored import StoredRun

PLANTED = Experiment(
    "planted", "Planted", "Which one?", Base("p", "reverse", "tiny"), (Arm("one"), Arm("two", "seed=9"))
)


def run(seed: int, right: float, loss: float, shares: Sequence[float], **more: object) -> StoredRun:
    """A run with evaluations at 10, 20, … updates."""
    steps = [10.0 * (i + 1) for i in range(len(shares))]
    columns = {"step": steps, "loss": [loss] * len(steps), "exact_match": list(shares), "token_accuracy": list(shares)}
    values: dict[str, object] = {
        "seed": seed,
        "command": "python",
        "machine": "m",
        "torch": "t",
        "seconds": 2.0,
        "parameters": 100,
        "tokens_per_s": 1000.0,
        "train": {"step": steps, "loss": [loss] * len(steps)},
        "valid": columns,
        "scores": {"test": {"exact_match": right, "loss": loss, "sentences": 4, "different": 3, "empty": 1}},
    }
    return StoredRun(**{**values, **more})  # type: ignore[arg-type]


GOOD = (run(1, 1.0, 0.1, (0.5, 0.99)), run(2, 0.99, 0.2, (0.5, 0.9, 1.0)))
BAD = (run(1, 0.5, 1.0, (0.1, 0.2)), run(2, 0.7, 0.9, (0.1, 0.2)))


def planted(first: Sequence[StoredRun], second: Sequence[StoredRun]) -> tuple[ArmRuns, ...]:
    """The two arms with these runs."""
    pairs = zip(PLANTED.arms, (first, second), strict=True)
    return tuple(ArmRuns(arm, PLANTED.recipe(arm), tuple(runs)) for arm, runs in pairs)


def test_findings_state_what_the_runs_show_and_no_more() -> None:
    _, target, against, chance = findings(PLANTED, planted(GOOD, BAD))
    assert target == (
        "The target is 99 % right on test: 'one' reaches it in 2 of 2 runs; on validation it first reached that "
        "after 25 (20 to 30) updates."
    )
    assert against == (
        "'two' compared with 'one': right on test 60 % (50 % to 70 %) against 99.5 % (99 % to 100 %) (less in "
        "every run); loss on test 0.95 (0.9 to 1) against 0.15 (0.1 to 0.2) (higher in every run); none of its "
        "runs reached 99 % on validation."
    )
    assert "in one case in 3." in chance  # 4 choose 2, halved: it does not matter which of the two is above


def test_overlapping_runs_show_no_clear_difference() -> None:
    mixed = (run(1, 1.0, 0.15, (0.5, 0.5, 1.0)), run(2, 0.995, 0.3, (0.99,)))
    said = findings(PLANTED, planted(GOOD, mixed))[2]
    assert said.count("the runs overlap: no clear difference") == 3
    assert "updates until 99 % on validation (evaluated every 10 updates): 20 (10 to 30) against 25 (20 to 30)" in said
    said = findings(PLANTED, planted(GOOD[:1], GOOD[:1]))[2]
    assert said.count("the same in the one run of each") == 3


def test_single_runs_are_reported_as_single_runs() -> None:
    *_, against, chance = findings(PLANTED, planted(GOOD[:1], BAD[:1]))
    assert "(less in the one run of each)" in against
    assert "every run" not in against
    assert chance == "One run of a variant cannot tell a difference from chance: another seed could reverse it."


def test_a_target_that_is_missed_by_some_is_counted() -> None:
    said = findings(PLANTED, planted(GOOD, (GOOD[0], BAD[0])))[2]
    assert "1 of 2 runs reached 99 % on validation, against 2 of 2" in said


def test_missing_and_failed_runs_are_reported() -> None:
    few = "Runs are missing: 'one' has 2 of 3."
    assert findings(PLANTED, planted(GOOD, ()))[:2] == ["Not run yet: 'two'.", few]
    assert findings(PLANTED, planted((), ())) == ["Not run yet: 'one' and 'two'."]
    assert few not in findings(PLANTED, planted((*GOOD, GOOD[0]), ()))
    failed = run(1, 0, 0, (0.1,), scores={}, error="the loss is no longer a number.")
    assert "'two', seed 1: the loss is no longer a number." in findings(PLANTED, planted(GOOD, (failed, BAD[1])))


def test_the_table_has_mean_range_and_count() -> None:
    first, second = table(planted(GOOD, ()))
    assert (first["variant"], first["runs"]) == ("one", 2)
    assert first["right on test (%)"] == 99.5
    assert first["right on test (%), lowest"] == 99.0
    assert first["updates until 99 %"] == 25
    assert first["runs that reached 99 %"] == 2
    assert (second["runs"], second["right on test (%)"], second["parameters"]) == (0, None, None)


def test_speed_is_reported_where_models_differ_and_answers_are_counted() -> None:
    assert speed_sentence(planted(GOOD, BAD)) == ""
    other = (run(1, 1, 1, (1.0,), parameters=200, tokens_per_s=3000.0),)
    assert speed_sentence(planted(GOOD, other)) == (
        "Parameters, and training tokens per second on one core: 'one' 100, 1,000; 'two' 200, 3,000."
    )
    assert answers_sentence(planted(GOOD, ())) == "Answers to the 4 test sentences: 'one' 3 different, 1 empty."
    flawless = replace(GOOD[0], scores={"test": {"exact_match": 1.0, "empty": 0, "different": 4, "sentences": 4}})
    assert answers_sentence(planted((flawless,), ())) == ""


def test_scores_beyond_training_are_reported_by_split() -> None:
    far = replace(PLANTED, base=replace(PLANTED.base, splits=("long",)))
    one, two = (replace(GOOD[0], scores={"long": {"exact_match": share}}) for share in (0.1, 0.305))
    arms = tuple(ArmRuns(arm, far.recipe(arm), runs) for arm, runs in zip(far.arms, ((one, two), ()), strict=True))
    assert other_split_sentences(arms) == [
        "Right on the split 'long', which is unlike training: 'one' 20.2 % (10 % to 30.5 %)."
    ]
    assert other_split_sentences(planted(GOOD, BAD)) == []


def test_numbers_that_are_missing_have_no_range() -> None:
    assert mean_and_range([None, None]) is None
    found = mean_and_range([1.0, None, 3.0])
    assert found is not None
    assert (found.mean, found.low, found.high, found.n) == (2.0, 1.0, 3.0, 2)
    assert reached_at(BAD[0], 0.99) is None


def test_groups_that_are_lengths_become_numbers() -> None:
    lengths = replace(GOOD[0], groups={"test": {"01 letters": 1.0, "12 letters": 0.5}, "long": {"words": 1.0}})
    assert by_length(lengths, "test") == {1.0: 100.0, 12.0: 50.0}
    assert by_length(lengths, "long") == by_length(lengths, "valid") == {}


def test_bands_hold_mean_and_range_at_each_step() -> None:
    ways = {"one": [([10, 20], [50.0, 90.0]), ([10, 20, 30], [70.0, 100.0, 100.0])], "two": [([10], [1.0])]}
    data = bands(ways)
    assert data["x"] == [10, 20, 30, 10]
    assert data["mean"] == [60.0, 95.0, 100.0, 1.0]
    assert (data["low"][0], data["high"][0], data["runs"]) == (50.0, 70.0, [2, 2, 1, 1])
    first, *_ = wide(data)
    assert list(first) == ["at", *(f"{way}, {name}" for way in ("one", "two") for name in ("mean", "low", "high"))]
    assert list(first.values()) == [10, 60.0, 50.0, 70.0, 1.0, 1.0, 1.0]
    figure = band_figure(ways, x_title="updates", title="Right", unit=" %", top=100.0, mark=15)
    assert figure.caption == (
        "Where each curve ends, mean and range over the runs, highest first: one 100 % (100 to 100, 1 run) at 30 "
        "updates; two 1 % (1 to 1, 1 run) at 10 updates."
    )
    alike = band_figure({"one": ways["one"][:1], "two": ways["one"][:1]}, x_title="updates", title="", unit="")
    assert alike.caption.startswith("At the right end (updates 20), mean and range over the runs, highest first: one 9")
    assert set(figure.data["mark"]) == {15}
    dashes = figure.spec["layer"][1]["encoding"]["strokeDash"]["scale"]
    assert len({tuple(dash) for dash in dashes["range"]}) == len(ways)  # not by colour alone
    for layer in figure.spec["layer"][:2]:  # a layer without a legend would remove the other's
        assert layer["encoding"]["color"]["legend"]
    assert figure.spec["layer"][0]["encoding"]["color"]["legend"]["columns"] == 3
    long = band_figure(
        {f"a way with a name as long as this, {i}": runs for i, runs in enumerate(ways.values())},
        x_title="x",
        title="",
        unit="",
    )
    assert long.spec["height"] > figure.spec["height"]  # a legend of more rows leaves the curves their room
    assert legend_columns(("rate 0.0005, warm-up, cosine decay, 45 updates",)) == 1
    assert legend_columns(("pre-norm", "post-norm")) == 3
    assert "Nothing to draw yet" in band_figure({}, x_title="updates", title="", unit="").caption


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)
def test_every_experiment_has_findings(experiment: Experiment) -> None:
    arms = arm_runs(experiment)
    said = findings(experiment, arms)
    assert said
    for one in arms:
        exact = experiment.base.metric == "exact_match"
        stored = [run.score(experiment.base.metric) for run in one.runs]
        if stored and one.arm != experiment.arms[0] and None not in stored:
            mean = (100 if exact else 1) * sum(value for value in stored if value is not None) / len(stored)
            words = f"{'right' if exact else 'BLEU'} on test {one.metric.text(mean)}"
            assert any(f"'{one.label}' compared with" in line and words in line for line in said)


def test_what_the_page_draws_from() -> None:
    arms = planted(GOOD, ())
    curves = validation_curves(arms, "exact_match")
    assert set(curves) == {"one"}
    (steps, values), _ = curves["one"]
    assert steps == list(GOOD[0].valid["step"])
    assert values == [100.0 * share for share in GOOD[0].valid["exact_match"]]
    rows = sample_rows(arms)
    assert [row["source"] for row in rows] == [source for source, _, _ in GOOD[0].samples]
    assert all(row["right"] is (row["its answer"] == row["right answer"]) for row in rows)
    assert " seconds per run, including scoring" in duration_sentence(arms[0])
    made = replace(PLANTED.recipe(PLANTED.arms[0]), base=replace(PLANTED.base, chain="last", start="first"))
    said = duration_sentence(replace(arms[0], recipe=made))
    assert said.endswith("whatever else the machine was doing, without what they start from.")


def test_curves_by_length_go_beyond_the_test_split() -> None:
    groups = {"test": {"02 letters": 1.0, "01 letters": 0.5}, "long": {"12 letters": 0.25}}
    curves, longest = length_curves(planted((replace(GOOD[0], groups=groups),), ()))
    assert curves == {"one": [([1.0, 2.0, 12.0], [50.0, 100.0, 25.0])]}
    assert longest == 2.0
