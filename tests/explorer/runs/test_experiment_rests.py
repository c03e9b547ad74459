"""Where attention rests, in numbers and words: planted runs give known places and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.charts.rests import rests_plot
from explorer.runs.experiment_rests import caption, places
from tests.explorer.runs.test_experiment_findings import GOOD, planted

ENCODER = {"first": [0.2, 0.7], "last": [0.25, 0.1], "uniform": [0.2, 0.2], "largest": [4.0, 30.0]}
CROSS = {"first": [0.3, 0.2], "last": [0.5, 0.6], "uniform": [0.2, 0.2]}
RUNS = (
    replace(GOOD[0], rests={"encoder": ENCODER, "cross": CROSS}),
    replace(GOOD[1], rests={"encoder": {**ENCODER, "first": [0.2, 0.9], "largest": [4.0, 50.0]}, "cross": CROSS}),
)


def test_every_place_has_mean_and_range_of_each_arm() -> None:
    arms = planted(RUNS, RUNS[:1])
    found = places(arms, "first")
    assert [place.name for place in found] == ["encoder L1", "encoder L2", "cross L1", "cross L2"]
    at = found[1].values["one"]
    assert (at.mean, at.low, at.high, at.n) == pytest.approx((80.0, 70.0, 90.0, 2))
    assert found[1].values["two"].high == pytest.approx(70.0)
    assert found[1].uniform == pytest.approx(20.0)
    largest = places(arms, "largest")
    assert [place.name for place in largest] == ["encoder L1", "encoder L2"], "a layer's output is no cross-attention"
    assert largest[1].uniform is None


def test_the_caption_names_the_highest_places() -> None:
    assert "one 80 (70 to 90) in encoder L2; two 70 in encoder L2" in caption(
        places(planted(RUNS, RUNS[:1]), "first"), "first"
    )


def test_the_figure_has_the_numbers_of_its_table() -> None:
    plot = rests_plot(places(planted(RUNS, RUNS[:1]), "last"), "last")
    assert plot.table["place"] == ["encoder L1", "encoder L2", "cross L1", "cross L2"]
    assert plot.table["one, mean"] == [25.0, 10.0, 50.0, 60.0]
    uniform, one, _ = plot.figure.data
    assert list(uniform.y) == pytest.approx([20.0] * 4)
    assert list(one.y) == pytest.approx([25.0, 10.0, 50.0, 60.0])


def test_runs_without_measurements_have_no_places() -> None:
    arms = planted(GOOD, GOOD)
    assert places(arms, "first") == []
