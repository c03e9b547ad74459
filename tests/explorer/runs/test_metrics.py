"""Reading metrics.jsonl as it grows."""

import json
import os
from pathlib import Path

import pytest

from explorer.charts.training_curves import loss_figure, score_figure
from explorer.runs.metrics import MAX_POINTS, MAX_SAMPLES, Metrics, load_metrics
from explorer.runs.progress import early_end
from explorer.runs.status import RunStatus
from tests.explorer.toy_runs import LINES, eval_line, train_line, write_metrics


def text(*lines: dict[str, object]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def points(metrics: Metrics) -> list[tuple[float, float]]:
    return [(point["step"], point["loss"]) for point in metrics.train]


def append(path: Path, *lines: dict[str, object]) -> None:
    with open(path, "ab") as file:
        file.write(text(*lines))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_a_rewritten_file_is_read_from_the_start_and_each_step_counts_once(path: Path) -> None:
    """A resumed run drops the lines after its last save, and may soon be longer than before."""
    write_metrics(path.parent)
    assert points(load_metrics(path))[-1] == (30, 1.0)
    temporary = path.with_name("new")
    again = (train_line(20, 7.0), eval_line(20, 7.0, 0.1))
    temporary.write_bytes(text(*LINES[:2], *again, *LINES[4:], train_line(40, 0.1)))
    os.replace(temporary, path)
    assert points(load_metrics(path)) == [(10, 3.0), (20, 7.0), (30, 1.0), (40, 0.1)]
    path.write_bytes(text(*LINES[:2], *again))
    assert points(load_metrics(path)) == [(10, 3.0), (20, 7.0)]
    # Killed and continued without rewriting: the second value of a step counts.
    append(path, train_line(20, 2.5), eval_line(20, 2.5, 0.2))
    found = load_metrics(path)
    assert points(found) == [(10, 3.0), (20, 2.5)]
    assert [point["exact_match"] for point in found.evals] == [0.0, 0.2]
    assert len(found.samples) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1, 2]",
        b'{"kind": "train", "step": 5, "loss": NaN}',
        b'{"kind": "train"}',
        b'{"kind": "train", "step": -1}',
        b'{"kind": "train", "step": true}',
        b'{"kind": "other", "step": 3}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_invalid_lines_are_skipped_and_values_that_are_no_numbers_dropped(path: Path, line: bytes) -> None:
    odd = b'{"kind": "eval", "step": 5, "loss": null, "bleu": "12", "exact_match": true, "samples": [3, {}]}'
    path.write_bytes(line + b"\n" + odd + b"\n" + text(train_line(10, 1.0)))
    found = load_metrics(path)
    assert points(found) == [(10, 1.0)]
    assert found.evals == ({"step": 5.0},)
    assert found.samples[0][1][0].source == ""


def test_memory_is_bounded(path: Path) -> None:
    lines = [train_line(step, 1 / step) for step in range(1, 5 * MAX_POINTS)]
    path.write_bytes(text(*lines, *(eval_line(step, 1.0, 0.5) for step in range(50))))
    found = load_metrics(path)
    assert len(found.train) <= 2 * MAX_POINTS
    assert (found.train[0]["step"], found.train[-1]["step"]) == (1, 5 * MAX_POINTS - 1)
    assert len(found.samples) <= MAX_SAMPLES + 1
    assert (found.samples[0][0], found.samples[-1][0]) == (0, 49)


def test_an_early_look_is_drawn_but_is_no_evaluation(path: Path) -> None:
    """Of a run that ends after two evaluations without a mistake, and had none at its early look, either."""
    look = eval_line(20, 0.3, 1.0, bleu=99.0, sentences=60) | {"kind": "look"}
    path.write_bytes(text(look, train_line(40, 0.1)))
    early = load_metrics(path)
    assert (early.evals, [point["step"] for point in early.looks]) == ((), [20])
    assert early.latest("bleu") == 99.0
    assert early.samples[0][0] == 20
    path.write_bytes(text(look, eval_line(100, 0.2, 1.0, bleu=100.0, sentences=60)))
    found, run = load_metrics(path), RunStatus("mine", "running", step=100, max_steps=750)
    assert loss_figure(found).data["step"] == [20, 100]
    assert score_figure(found).data["step"] == [20, 100, 20, 100], "exact match and BLEU"
    assert early_end(run, found, {"eval_every": 100, "stop_when_right": 2}) == (200, 1), "one more, and not none"
