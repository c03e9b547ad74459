"""A run that was interrupted anywhere ends with the same weights as one that was not, bit for bit."""

import itertools
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from model import train
from model.checkpoint import load_model, load_stored, snapshot_steps
from model.folder import CONFIG, METRICS, SNAPSHOTS, STATE, STATUS, WEIGHTS, CheckpointError, read_json, write_json
from model.training import evaluation
from model.training import trainer as trainer_module
from model.training.distributed import World
from model.training.evaluation import evaluate
from model.training.runfolder import RunFolder, read_metrics
from model.training.state import STATE_JSON, load_state
from tests.model.engine import SETTLED, StopAfter, run, string_setup, syllable_task
from tests.some import some

pytestmark = pytest.mark.slow  # real runs


def untimed(folder: Path) -> list[dict[str, Any]]:
    """The metrics without times. Some runs log each update, others the mean of several, which a stop may divide."""
    lines = read_metrics(folder / METRICS)
    return [{k: v for k, v in line.items() if k not in ("tokens_per_s", "seconds")} for line in lines]


def assert_same_run(one: Path, other: Path) -> None:
    """Same weights, optimiser, progress, snapshots and metrics."""
    (progress, tensors), (other_progress, other_tensors) = load_state(one) or ({}, {}), load_state(other) or ({}, {})
    assert tensors.keys() == other_tensors.keys()
    assert all(torch.equal(tensors[name], other_tensors[name]) for name in tensors)
    assert vars(progress) | {"seconds": 0} == vars(other_progress) | {"seconds": 0}
    assert (one / WEIGHTS).read_bytes() == (other / WEIGHTS).read_bytes()
    snapshots = {path.name: path.read_bytes() for path in (one / SNAPSHOTS).iterdir()}
    assert snapshots == {path.name: path.read_bytes() for path in (other / SNAPSHOTS).iterdir()}
    assert untimed(one) == untimed(other)


KINDS: dict[str, dict[str, Any]] = {
    "averaged": {
        "average_checkpoints": 2,
        "consistency": "simcut",
        "cutoff": 0.2,
        "gradient_accumulation_steps": 2,
        "log_every": 5,
    },
    "rdrop": {"consistency": "rdrop", "consistency_weight": 5.0, "log_every": 1},
    "lstm": {"architecture": "lstm", "positions": "none", "runtime": replace(SETTLED, fused=False), "log_every": 1},
    "resampled": {"task": syllable_task(), "bpe_dropout": 0.3, "log_every": 1, "max_steps": 20},
}


def test_the_scores_of_an_averaged_run_are_those_of_the_weights_in_its_folder(wholes: dict[str, Path]) -> None:
    """Neither those of the last update nor those of the best evaluation: the mean that is stored is what was scored."""
    folder = wholes["averaged"] / "run"
    stored, setup = load_model(folder), string_setup()
    scores = evaluate(stored.model, stored.target, setup.task, setup.valid, World(), check=lambda: None)
    results = read_json(folder / CONFIG)["results"]
    assert (results["step"], results["valid"]["step"]) == (12, 12)
    assert results["valid"]["loss"] == pytest.approx(scores.tokens.nll / scores.tokens.tokens, rel=1e-6)
    (last,) = (line for line in read_metrics(folder / METRICS) if line["kind"] == "eval" and line["step"] == 12)
    assert last["loss"] == results["valid"]["loss"]
    assert last["samples"][0]["prediction"] in scores.predictions
    _, tensors = load_state(folder) or ({}, {})
    load_stored(stored.model, {name.removeprefix("model."): t for name, t in tensors.items() if "model." in name})
    current = evaluate(stored.model, stored.target, setup.task, setup.valid, World(), check=lambda: None)
    assert abs(current.tokens.nll / current.tokens.tokens - results["valid"]["loss"]) > 1e-4, "another set of weights"


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One uninterrupted run of each kind."""
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    for kind, folder in folders.items():
        assert run(folder, partial(string_setup, snapshots=5, **KINDS[kind]))
    return folders


@pytest.mark.parametrize("questions", some((5, 0, 1, 9, 15), 5))
@pytest.mark.parametrize("kind", KINDS)
def test_stop_anywhere_and_resume(tmp_path: Path, wholes: dict[str, Path], questions: int, kind: str) -> None:
    """Stopped at its first question, a run has done nothing: what is resumed then is the same run a second time."""
    make = partial(string_setup, snapshots=5, **KINDS[kind])
    whole, cut = wholes[kind], tmp_path
    assert not run(cut, make, signals=StopAfter(questions))
    assert read_json(cut / "run" / STATUS)["state"] == "stopped"
    stopped_at = read_json(cut / "run" / "state" / STATE_JSON)["progress"]["step"]
    assert stopped_at < (KINDS[kind].get("max_steps", 12) if questions else 1)
    assert run(cut, make, resume=True)
    assert_same_run(whole / "run", cut / "run")
    progress, _ = load_state(cut / "run") or (None, {})
    assert progress is not None
    assert progress.epoch >= 2, "an interruption may come in any of several epochs"


def test_stop_while_a_finished_run_is_scored_and_resume(tmp_path: Path, wholes: dict[str, Path]) -> None:
    """The last checks happen after training, while the test split is translated and scored."""
    make = partial(string_setup, snapshots=5, **KINDS["averaged"])
    counter = StopAfter(1000)
    assert run(tmp_path / "counted", make, signals=counter)
    asked = 1000 - counter.left
    folder = tmp_path / "cut" / "run"
    assert not run(folder.parent, make, signals=StopAfter(asked - 2))
    assert read_metrics(folder / METRICS)[-1]["step"] == 12
    status, config = read_json(folder / STATUS), read_json(folder / CONFIG)
    assert (status["state"], status["step"]) == ("stopped", 12)
    assert "test" not in config["results"]
    assert run(folder.parent, make, resume=True)
    assert read_json(folder / STATUS)["state"] == "finished"
    assert read_json(folder / CONFIG)["results"]["test"]["sentences"] == 8
    assert_same_run(wholes["averaged"] / "run", folder)


def test_resuming_from_an_older_save_repeats_the_lost_steps(tmp_path: Path, wholes: dict[str, Path]) -> None:
    """After a kill, metrics, snapshots and best weights can be newer than the last saved state."""
    make = partial(string_setup, snapshots=5, **KINDS["rdrop"])
    cut, early = tmp_path / "cut" / "run", tmp_path / "early" / "run"
    shutil.copytree(wholes["rdrop"], cut.parent)
    assert not run(early.parent, make, signals=StopAfter(6))
    shutil.rmtree(cut / "state")
    shutil.copytree(early / "state", cut / "state")
    with (cut / METRICS).open("ab") as file:
        file.write(b'{"kind": "train", "st')  # torn while it was written
    for name in ("model.safetensors", "snapshots/step-00000001.safetensors", "state/state.json", "probe.json"):
        (cut / name).with_name(f".{Path(name).name}.1234-abcd.tmp").write_bytes(b"half")
    assert run(cut.parent, make, resume=True)
    assert_same_run(wholes["rdrop"] / "run", cut)
    drafts = [path.name for path in cut.rglob("*.tmp")]
    assert drafts == [".probe.json.1234-abcd.tmp"], "that one is the page's, which may be writing it"


def test_a_torn_state_is_refused_with_a_message(tmp_path: Path) -> None:
    make = partial(string_setup)
    assert not run(tmp_path, make, signals=StopAfter(6))
    (tensors,) = (tmp_path / "run" / "state").glob("step-*.safetensors")
    tensors.write_bytes(tensors.read_bytes()[:-7])
    with pytest.raises(CheckpointError, match=r"state/step-.*damaged or cut off"):
        run(tmp_path, make, resume=True)
    assert read_json(tmp_path / "run" / STATUS)["state"] == "failed"


def test_a_stop_file_ends_within_one_batch_and_is_forgotten(tmp_path: Path) -> None:
    """The file appears while update 3 is logged; no further update follows."""
    original = RunFolder.log

    def log_and_ask(self: RunFolder, kind: Any, step: int, **values: Any) -> None:
        original(self, kind, step, **values)
        if step == 3:
            (self.folder / "stop").touch()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "log", log_and_ask)
        assert not run(tmp_path, partial(string_setup, log_every=1))
    status = read_json(tmp_path / "run" / STATUS)
    assert (status["state"], status["step"]) == ("stopped", 3)
    assert not (tmp_path / "run" / "stop").exists()
    assert load_model(tmp_path / "run").model is not None


def test_early_stopping_and_its_resume(tmp_path: Path) -> None:
    """Patience counts evaluations without improvement, even across a stop."""
    make = partial(string_setup, learning_rate=1e-12, patience=2, eval_every=2, max_steps=40, dropout=0.0)
    assert run(tmp_path / "whole", make)
    steps = [line["step"] for line in read_metrics(tmp_path / "whole" / "run" / METRICS) if line["kind"] == "eval"]
    assert max(steps) < 40
    assert not run(tmp_path / "cut", make, signals=StopAfter(7))
    assert run(tmp_path / "cut", make, resume=True)
    assert_same_run(tmp_path / "whole" / "run", tmp_path / "cut" / "run")


EARLY, WHOLE = [2, 4, 6, 8, 10, 12], list(range(2, 21, 2))


@pytest.mark.parametrize(
    ("fewest", "most", "right", "steps"),
    [(1, 1.0, 1.0, EARLY), (1, 0.75, 0.75, EARLY), (1, 1.0, 0.75, WHOLE), (10**6, 1.0, 1.0, WHOLE)],
)
def test_a_run_stops_at_once_when_everything_held_out_stays_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fewest: int, most: float, right: float, steps: list[int]
) -> None:
    """At three evaluations in a row, here all but the third; of few held-out sentences it does not count.

    Everything is as much as can be right, where sources have several answers.
    """
    evaluated = evaluation.eval_line
    number = itertools.count(1)

    def all_right(*arguments: Any, **more: Any) -> dict[str, Any]:
        return evaluated(*arguments, **more) | {"exact_match": 0.5 if next(number) == 3 else right}

    monkeypatch.setattr(trainer_module, "eval_line", all_right)
    monkeypatch.setattr(trainer_module, "FEWEST_HELD_OUT", fewest)
    monkeypatch.setattr(trainer_module, "reachable", lambda task, valid: most)
    assert run(tmp_path, partial(string_setup, stop_when_right=3, eval_every=2, max_steps=20))
    lines = read_metrics(tmp_path / "run" / METRICS)
    assert [line["step"] for line in lines if line["kind"] == "eval"] == steps
    assert all(line.get("reachable", 1.0) == most for line in lines if line["kind"] == "eval")
    assert snapshot_steps(tmp_path / "run")[-1] == steps[-1], "the last step has a snapshot wherever the run ends"
    assert read_json(tmp_path / "run" / STATUS)["state"] == "finished"


def test_a_resumed_run_that_waits_keeps_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not run(tmp_path, string_setup, signals=StopAfter(6))
    kept = read_json(tmp_path / "run" / STATE / STATE_JSON)["progress"]["step"]
    seen = []

    def flush(self: RunFolder) -> None:
        seen.append((self._status["state"], self._status.get("step")))

    monkeypatch.setattr(RunFolder, "flush", flush)
    run(tmp_path, string_setup, resume=True)
    assert seen[0] == ("queued", kept)
    assert kept > 0


def test_processes_of_a_resumed_run_talk_as_those_of_its_start_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On GPUs by NCCL, each on its own device; a run on the CPU by gloo, also where there is a GPU now."""
    assert not run(tmp_path, partial(string_setup), signals=StopAfter(6))
    kinds: list[str] = []

    def join(kind: str) -> World:
        kinds.append(kind)
        raise CheckpointError("far enough")

    monkeypatch.setattr("model.training.distributed.joined_world", join)
    monkeypatch.setattr("model.training.device.resolve_device", lambda wanted: f"{wanted}:0")
    path = tmp_path / "run" / CONFIG
    for trained_on in ("cuda:1", "cpu"):
        config = read_json(path)
        write_json(path, config | {"runtime": config["runtime"] | {"device": trained_on}})
        with pytest.raises(CheckpointError, match="far enough"):
            train.main(["--resume", "run", "--checkpoints", str(tmp_path)])
    assert kinds == ["cuda:0", "cpu:0"]
