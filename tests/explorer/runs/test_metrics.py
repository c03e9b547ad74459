"""Reading metrics.jsonl as it grows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from explorer.runs.metrics import MAX_POINTS, MAX_SAMPLES, Metrics, load_metrics
from tests.explorer.toy_runs import LINES, eval_line, train_line, write_metrics


def text(*lines: dict[str, object]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def steps(metrics: Metrics) -> list[float]:
    """The steps of its training points."""
    return [point["step"] for point in metrics.train]


def test_a_missing_file_is_an_empty_run(tmp_path: Path) -> None:
    found = load_metrics(tmp_path / "metrics.jsonl")
    assert (found.train, found.evals, found.samples) == ((), (), ())
    assert found.latest("train", "loss") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in its file system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "metrics.jsonl")
    assert load_metrics(tmp_path / "metrics.jsonl").train == ()


def test_reads_what_there_is(tmp_path: Path) -> None:
    found = load_metrics(write_metrics(tmp_path))
    assert [point["step"] for point in found.train] == [10, 20, 30]
    assert found.latest("evals", "exact_match") == 0.5
    assert found.latest("evals", "bleu") is None
    assert found.samples[-1][1][0].prediction == "at 30"


def test_a_file_that_has_not_changed_is_read_once(tmp_path: Path) -> None:
    path = write_metrics(tmp_path)
    first = load_metrics(path)
    assert load_metrics(path) is first
    with open(path, "ab") as file:
        file.write(text(train_line(40, 0.5)))
    assert steps(load_metrics(path)) == [10, 20, 30, 40]


def test_an_incomplete_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    line = text(train_line(10, 1.5))
    path.write_bytes(line + line[:20])
    assert steps(load_metrics(path)) == [10]
    path.write_bytes(line + text(train_line(20, 1.0)))
    assert steps(load_metrics(path)) == [10, 20]


def test_a_rewritten_file_is_read_from_the_start(tmp_path: Path) -> None:
    """A resumed run drops the lines after its last save, and may soon be longer than before."""
    path = write_metrics(tmp_path)
    assert steps(load_metrics(path))[-1] == 30
    temporary = tmp_path / "new"
    temporary.write_bytes(
        text(*LINES[:2], train_line(20, 7.0), eval_line(20, 7.0, 0.1), *LINES[4:], train_line(40, 0.1))
    )
    os.replace(temporary, path)
    found = load_metrics(path)
    assert [(point["step"], point["loss"]) for point in found.train] == [(10, 3.0), (20, 7.0), (30, 1.0), (40, 0.1)]
    path.write_bytes(text(*LINES[:2]))
    assert steps(load_metrics(path)) == [10]


def test_each_step_once(tmp_path: Path) -> None:
    """A run that was killed and continued without rewriting: the second value of a step counts."""
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(text(train_line(10, 3.0), train_line(20, 2.0), eval_line(20, 2.0, 0.1)))
    load_metrics(path)
    with open(path, "ab") as file:
        file.write(text(train_line(20, 2.5), eval_line(20, 2.5, 0.2)))
    found = load_metrics(path)
    assert [(point["step"], point["loss"]) for point in found.train] == [(10, 3.0), (20, 2.5)]
    assert [point["exact_match"] for point in found.evals] == [0.2]
    assert len(found.samples) == 1


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
def test_invalid_lines_are_skipped(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(line + b"\n" + text(train_line(10, 1.0)))
    assert [point["step"] for point in load_metrics(path).train] == [10]


def test_values_that_are_not_numbers_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(
        b'{"kind": "eval", "step": 5, "loss": null, "bleu": "12", "exact_match": true, "samples": [3, {}]}\n'
    )
    found = load_metrics(path)
    assert found.evals == ({"step": 5.0},)
    assert found.samples[0][1][0].source == ""


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    all_steps = range(1, 5 * MAX_POINTS)
    path.write_bytes(
        text(*(train_line(step, 1 / step) for step in all_steps), *(eval_line(s, 1.0, 0.5) for s in range(50)))
    )
    found = load_metrics(path)
    assert len(found.train) <= 2 * MAX_POINTS
    assert found.train[0]["step"] == 1
    assert found.train[-1]["step"] == all_steps[-1]
    assert len(found.samples) <= MAX_SAMPLES + 1
    assert (found.samples[0][0], found.samples[-1][0]) == (0, 49)


def test_what_a_file_has_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "metrics.jsonl"
    first = text(train_line(10, 1.0))
    path.write_bytes(first + text(train_line(20, 1.0)))
    monkeypatch.setattr("explorer.runs.metrics.MAX_METRICS_BYTES", len(first) + 5)
    assert steps(load_metrics(path)) == [10]


def test_a_deleted_run_leaves_nothing_to_a_new_run_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "train", "step": 5, "loss": 1.0}\n', encoding="utf-8")
    assert steps(load_metrics(path)) == [5]
    path.unlink()
    assert steps(load_metrics(path)) == []
