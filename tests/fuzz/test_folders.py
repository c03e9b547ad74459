"""Folders of models and runs with arbitrary file contents: a model, or a message; never any other error."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.examples import examples_of
from explorer.decoding.model_summary import facts, title
from explorer.locale.text import plain
from explorer.runs.lifecycle import Runs
from explorer.runs.listing import description
from explorer.runs.metrics import load_metrics
from explorer.runs.process import LAUNCHES
from explorer.runs.status import age, clock
from model.checkpoint import load_model
from model.folder import CONFIG, METRICS, PROBE, STATUS, TOKENIZER, CheckpointError, list_models
from model.trace import AttentionTrace, TraceError
from model.training.probe import read_probe
from tests.explorer.planted import planted_trace
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import LINES, eval_line, save_run, train_line
from tests.fuzz.inputs import VALUES, changed, damaged, tries

STATE = {"state": "running", "pid": 1, "started": 1.0, "error": None, "updated": 2e9, "step": 3, "max_steps": 9}
STATE |= {"epoch": 0, "eta_s": 3.0, "tokens_per_s": 5.0, "probe_step": 2}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that the examples of one test change in turn."""
    root = tmp_path_factory.mktemp("fuzz")
    save_run(root / "checkpoints" / "run")
    save_toy(root / "checkpoints" / "words", "adjective-swap")
    (root / "checkpoints" / LAUNCHES).mkdir()
    return root / "checkpoints"


def listed(checkpoints: Path) -> None:
    """Everything the pages show about the folder before a model is opened."""
    for summary in list_models(checkpoints):
        if summary["error"] is None:
            lines = [title(summary), *facts(summary), *(prompt.source for prompt in examples_of(summary))]
        else:
            lines = [summary["error"]]
        assert all(isinstance(plain(line), str) for line in lines)
    runs = Runs(checkpoints)
    for entry in runs.entries():
        assert isinstance(description(entry), str)
        assert isinstance(entry.problem, str)
        assert isinstance(runs.watched(entry.name), str)
        if entry.status is not None:
            assert 0 <= entry.status.share <= 1
            assert isinstance(clock(entry.status.eta_s or 0.0), str)
    assert {path.name for path in checkpoints.parent.iterdir()} == {checkpoints.name}


@pytest.mark.parametrize("file", [CONFIG, TOKENIZER])
@pytest.mark.parametrize("model", ["run", "words"])
@tries(40)
@given(data=st.data())
def test_settings_and_tokenizers_that_say_anything(shared: Path, model: str, file: str, data: st.DataObject) -> None:
    path = shared / model / file
    whole = path.read_bytes()
    try:
        path.write_text(json.dumps(data.draw(changed(json.loads(whole)))), encoding="utf-8")
        listed(shared)
        with contextlib.suppress(CheckpointError):
            loaded = load_model(shared / model)
            loaded.target.decode(loaded.source.encode("abc I read red books").ids[:3])
    finally:
        path.write_bytes(whole)


@tries(60)
@given(state=changed(STATE))
def test_a_status_that_says_anything(shared: Path, state: Any) -> None:
    path = shared / "run" / STATUS
    whole = path.read_bytes()
    try:
        path.write_text(json.dumps(state), encoding="utf-8")
        listed(shared)
    finally:
        path.write_bytes(whole)


@tries(40)
@given(launch=changed({"pid": 1, "started": 1.0, "arguments": ["python", "-m", "model.train"]}))
def test_a_launch_that_says_anything(shared: Path, launch: Any) -> None:
    path = shared / LAUNCHES / "run.json"
    try:
        path.write_text(json.dumps(launch), encoding="utf-8")
        listed(shared)
    finally:
        path.unlink()


@tries(60)
@given(lines=st.lists(st.one_of(changed(train_line(10, 3.0)), changed(eval_line(10, 2.9, 0.5)), VALUES), max_size=5))
def test_curves_that_say_anything(tmp_path_factory: pytest.TempPathFactory, lines: list[Any]) -> None:
    path = tmp_path_factory.mktemp("curves") / METRICS
    path.write_text("".join(json.dumps(line) + "\n" for line in (*LINES, *lines)), encoding="utf-8")
    found = load_metrics(path)
    assert found.train
    assert all(point["step"] >= 0 for point in (*found.train, *found.evals))


@tries(60)
@given(data=st.data())
def test_curves_with_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("curves") / METRICS
    path.write_bytes(data.draw(damaged("".join(json.dumps(line) + "\n" for line in LINES).encode())))
    load_metrics(path)


@pytest.mark.parametrize("content", [b"[" * 9000, b'{"source": "\\ud800"}', b'{"source": 1}', b"\xff", b"null", b""])
def test_a_watched_sentence_that_makes_no_sense_is_none(shared: Path, content: bytes) -> None:
    (shared / "run" / PROBE).write_bytes(content)
    assert read_probe(shared / "run") is None
    listed(shared)


@tries(60)
@given(data=st.data())
def test_a_watched_sentence_that_says_anything(shared: Path, data: st.DataObject) -> None:
    content = data.draw(
        damaged(b'{"source": "abc"}') | VALUES.map(lambda value: json.dumps({"source": value}).encode())
    )
    (shared / "run" / PROBE).write_bytes(content)
    found = read_probe(shared / "run")
    assert found is None or found.encode()
    listed(shared)


@tries(60)
@given(data=st.data())
def test_an_answer_with_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("answer")
    planted_trace().save_npz(folder / "whole.npz")
    path = folder / "probe.npz"
    path.write_bytes(data.draw(damaged((folder / "whole.npz").read_bytes())))
    with contextlib.suppress(TraceError):
        AttentionTrace.load_npz(path)
    shutil.rmtree(folder)


@tries(40)
@given(then=st.floats(allow_nan=True), now=st.floats(0, 4e9))
def test_ages_are_never_negative(then: float, now: float) -> None:
    """If the clock is set back, past times lie in the future."""
    said = age(then, now)
    assert "-" not in said
    assert said.endswith(("ago", "now"))
