"""Figures of training: their captions; an update sends numbers only."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import pytest

from explorer.charts.chart import Figure
from explorer.charts.training_curves import (
    MAX_CURVES,
    MAX_DRAWN,
    comparison_figure,
    evaluation_table,
    loss_figure,
    rate_figure,
    score_figure,
)
from explorer.runs.metrics import Metrics, load_metrics
from tests.explorer.toy_runs import LINES, eval_line, train_line, write_metrics


@pytest.fixture
def logged(tmp_path: Path) -> Callable[..., Metrics]:
    return lambda *lines: load_metrics(write_metrics(tmp_path, lines or LINES))


@pytest.fixture
def metrics(logged: Callable[..., Metrics]) -> Metrics:
    return logged()


def check(figure: Figure) -> Figure:
    """Check that it is valid Vega-Lite and that all columns have the same length."""
    alt.LayerChart.from_dict(figure.spec) if "layer" in figure.spec else alt.Chart.from_dict(figure.spec)
    assert pa.table(figure.data).num_rows == len(next(iter(figure.data.values())))
    assert figure.caption.endswith(".")
    assert figure.title
    return figure


@pytest.mark.parametrize("draw", [loss_figure, score_figure, rate_figure])
def test_a_curve_is_drawn_before_there_is_anything_and_an_update_changes_its_numbers_only(
    draw: Any, metrics: Metrics
) -> None:
    assert not any(check(draw(Metrics())).data.values())
    apart = replace(metrics, evals=tuple(point | {"token_accuracy": 0.9} for point in metrics.evals))
    assert check(draw(apart, 60)).spec is draw(Metrics(), 60).spec


def test_loss(metrics: Metrics, logged: Callable[..., Metrics]) -> None:
    figure = check(loss_figure(metrics, mark=20))
    assert figure.caption.startswith(
        "Training loss 1.00 at step 30, from 3.00 at step 10. Validation loss 1.20 at step 30."
    )
    assert sorted(set(figure.data["curve"])) == ["training", "validation"]
    assert set(figure.data["mark"]) == {20}
    assert [row["step"] for row in evaluation_table(metrics)] == [30, 20, 10]
    assert list(evaluation_table(metrics)[0].values()) == [30, 1.2, 1.0, 50.0, 50.0], "scores in percent"
    passed = loss_figure(logged(eval_line(10, 0.04, 0.1), eval_line(20, 0.5, 0.2))).caption
    assert passed == "Validation loss 0.50 at step 20; lowest 0.040 at step 10."
    line, dots = check(loss_figure(logged(eval_line(10, 0.4, 0.1)))).spec["layer"]
    assert (line["mark"]["type"], dots["mark"]["type"]) == ("line", "circle"), "a first evaluation alone is a dot"
    assert "validation" in str(dots["transform"])
    assert "datum.values == 1" in str(dots["transform"]), "and so is a first training loss, or a first rate"
    assert "datum.values == 1" in str(rate_figure(metrics).spec["layer"][1]["transform"])
    assert line["encoding"]["x"]["scale"]["domainMin"] == 0, "as on an axis of all steps"


def test_the_optimised_loss_is_a_curve_of_its_own_where_it_is_another_number(logged: Callable[..., Metrics]) -> None:
    lines = [train_line(step, 2.0 / step, nll=1.0 / step) for step in (1, 2)]
    metrics = logged(*lines, eval_line(2, 0.75, 0.1))
    figure = check(loss_figure(metrics))
    rows = set(zip(figure.data["curve"], figure.data["step"], figure.data["value"], strict=True))
    plain = {("training", 1.0, 1.0), ("training", 2.0, 0.5), ("validation", 2.0, 0.75)}
    assert rows == plain | {("training, as optimised", 1.0, 2.0), ("training, as optimised", 2.0, 1.0)}
    assert figure.caption.startswith("Training loss 0.50 at step 2, from 1.00 at step 1. Validation loss 0.75")
    assert evaluation_table(metrics)[0]["training loss"] == 0.5
    del lines[0]["nll"]
    only = check(loss_figure(logged(lines[0], eval_line(10, 1.46, 0.1))))
    assert set(only.data["curve"]) == {"training, as optimised", "validation"}
    assert "Training is measured as it is optimised" in only.caption
    alike = loss_figure(logged(lines[0], eval_line(10, 1.46, 0.1)), alike=True).caption
    assert alike.endswith("Both are measured alike: this run has neither dropout nor label smoothing.")


def test_scores_are_in_percent_and_bleu_takes_their_place(metrics: Metrics, logged: Callable[..., Metrics]) -> None:
    figure = check(score_figure(metrics))
    assert max(figure.data["value"]) == 50.0
    assert figure.caption == "50.0 % exactly right at step 30; no evaluation was better."
    bleu = check(score_figure(logged(eval_line(10, 1.0, 0.1, bleu=20.0), eval_line(20, 1.0, 0.1, bleu=12.345))))
    assert bleu.caption == "BLEU 12.3 (10.0 % exactly right) at step 20; at best BLEU 20.0 (10.0 % exactly right)."
    assert {*bleu.data["curve"]} == {"exact match", "BLEU"}
    perfect = [eval_line(step, 0.1, 1.0, bleu=100.00000000000004) for step in (10, 20)]
    flat = check(score_figure(logged(*perfect)))
    assert flat.data["curve"] == ["exact match and BLEU"] * 2, "not two lines on each other"
    later = check(score_figure(logged(*perfect, eval_line(30, 0.1, 0.9, bleu=100.0))))
    assert {*later.data["curve"]} == {"exact match", "BLEU"}


def test_curves_are_thinned_but_keep_their_end(logged: Callable[..., Metrics]) -> None:
    data = loss_figure(logged(*(train_line(step, 1.0) for step in range(1, 1500)))).data
    assert len(data["step"]) <= MAX_DRAWN + 1
    assert data["step"][-1] == 1499


def test_runs_side_by_side(metrics: Metrics) -> None:
    figure = check(comparison_figure({f"run <b>{number}</b>": metrics for number in range(MAX_CURVES + 3)}, "loss"))
    assert len(set(figure.data["curve"])) == MAX_CURVES
    assert figure.caption.startswith("Validation loss at the end: run <b>0</b> 1.20 (step 30), ")
    assert "None of these runs" in comparison_figure({"a": metrics}, "bleu").caption
    assert "until step" not in figure.caption, "they end at the same step"
    ends = [metrics.evals[0]["step"], metrics.evals[0]["step"] + 1]
    shorter, apart = (replace(metrics, evals=({**metrics.evals[0], "step": step},)) for step in ends)
    said = comparison_figure({"whole": metrics, "shorter": shorter}, "loss").caption
    assert re.search(r" The last until step 10: .*whole [\d.]+ \(step 10\)", said)
    said = comparison_figure({"whole": metrics, "apart": apart}, "loss").caption
    assert re.search(r" The last until step 11: .*whole [\d.]+ \(step 10\)", said), "each at its own evaluation"


def test_runs_in_charts_of_their_own_differ_in_colour_and_dashes(metrics: Metrics) -> None:
    charts = [comparison_figure({name: metrics}, "loss", among=("a", "b")).spec for name in ("a", "b")]
    for channel in ("color", "strokeDash"):
        scales = [chart["layer"][0]["encoding"][channel] for chart in charts]
        assert scales[0]["scale"] == scales[1]["scale"], "a run looks the same in all of them"
        assert [scale["legend"]["values"] for scale in scales] == [["a"], ["b"]]
    assert scales[0]["scale"]["domain"] == ["a", "b"]
    assert len({tuple(dash) for dash in scales[0]["scale"]["range"]}) == 2


@pytest.mark.parametrize(
    ("losses", "labels"),
    [
        ((3.0, 0.0014), [0.001, 0.01, 0.1, 1.0]),
        ((3.0, 0.28), [0.2, 0.5, 1.0, 2.0]),
        ((3.0, 0.006), [0.001, 0.01, 0.1, 1.0]),
        ((1.0, 1.0), [1.0]),
        ((2.0, 0.0), [2.0]),  # which a logarithmic axis cannot show
    ],
)
def test_a_loss_is_compared_on_a_logarithmic_axis_with_labels_from_its_lower_end(
    logged: Callable[..., Metrics], losses: tuple[float, ...], labels: list[float]
) -> None:
    run = logged(*(eval_line(step, loss, 0.1) for step, loss in enumerate(losses, start=1)))
    y = check(comparison_figure({"a": run}, "loss")).spec["layer"][0]["encoding"]["y"]
    assert y["axis"]["values"] == pytest.approx(labels)
    assert y["scale"] == {"type": "log", "nice": False, "domainMin": y["axis"]["values"][0]}


def test_scores_are_compared_up_to_100(metrics: Metrics) -> None:
    scores = comparison_figure({"a": metrics}, "exact_match")
    assert scores.spec["layer"][0]["encoding"]["y"]["scale"] == {"domain": [0, 100.0]}
    assert re.search(r"a [\d.]+ % of [\d,]+ sentences \(step", scores.caption), "of a score, the number of sentences"


@pytest.mark.nightly  # a process that imports pandas; only another import breaks it
def test_altair_does_not_ask_a_pandas_that_another_session_is_loading() -> None:
    code = """
import altair, threading
loading = threading.Thread(target=lambda: __import__("pandas"))
loading.start()
from explorer.charts.vega_chart import step_axis
print(step_axis().to_dict()["title"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == ("step\n", 0), ran.stderr
