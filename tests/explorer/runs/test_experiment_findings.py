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
from explorer.runs.experiment_findings import duration_sentence, findings
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
    _, target, chance = findings(PLANTED, planted(GOOD, BAD))
    assert target == (
        "The target is 99 % right on test: 'one' reaches it in 2 of 2 runs; on validation it first reached that "
        "after 25 (20 to 30) updates."
    )
    assert "in one case in 3." in chance  # 4 choose 2, halved: it does not matter which of the two is above


def test_single_runs_are_reported_as_single_runs() -> None:
    *_, chance = findings(PLANTED, planted(GOOD[:1], BAD[:1]))
    assert chance == "One run of a variant cannot tell a difference from chance: another seed could reverse it."


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


def test_answers_and_splits_beyond_training_have_columns() -> None:
    first = table(planted(GOOD, ()))[0]
    assert (first["tokens/s"], first["different answers"], first["empty answers"]) == (1000, 3, 1)
    far = replace(PLANTED, base=replace(PLANTED.base, splits=("long",)))
    one, two = (replace(GOOD[0], scores={"long": {"exact_match": share}}) for share in (0.1, 0.305))
    arms = tuple(ArmRuns(arm, far.recipe(arm), runs) for arm, runs in zip(far.arms, ((one, two), ()), strict=True))
    names = ("right on long (%)", "right on long (%), lowest", "right on long (%), highest")
    assert [[row[name] for name in names] for row in table(arms)] == [[20.2, 10.0, 30.5], [None, None, None]]
    assert not any("long" in name for name in first)


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
    assert findings(experiment, arm_runs(experiment))


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
