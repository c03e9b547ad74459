"""The training loop: it learns, accumulation changes only the memory, and its records are correct."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from model.checkpoint import load_model, snapshot_steps
from model.data.proposal import first_look
from model.data.task import Example
from model.folder import METRICS, STATUS, WEIGHTS, list_models, read_json, write_json
from model.trace import AttentionTrace
from model.training.corpus import Corpus, MicroBatch, Update
from model.training.distributed import World
from model.training.failure import TrainingError, sentence
from model.training.launch import create_folder
from model.training.probe import MAX_PROBE_BYTES, answer_probe, read_probe
from model.training.runfolder import LINE, RunFolder, is_alive, read_metrics, turn
from model.training.setup import Setup
from model.training.terminal import Terminal
from model.training.trainer import Trainer
from tests.model.engine import SETTLED, StopAfter, run, string_setup, string_task


class Joined(Corpus):
    """The same updates, with one batch per process each."""

    def _updates(self, epoch: int) -> tuple[Update, ...]:
        def joined(share: tuple[MicroBatch, ...]) -> tuple[MicroBatch, ...]:
            return (MicroBatch(tuple(i for batch in share for i in batch.indices)),)

        apart = super()._updates(epoch)
        return tuple(replace(update, shares=tuple(map(joined, update.shares))) for update in apart)


def trained(setup: Setup) -> dict[str, torch.Tensor]:
    """The weights after a whole run in float64."""
    setup.model.double()
    trainer = Trainer(setup, World(), None)
    while not trainer.done:
        trainer.update()
    return setup.model.state_dict()


def test_accumulation_changes_nothing_but_memory() -> None:
    """Three batches per update, or the same examples in one batch: in float64 the weights agree to 1e-6."""
    setup = string_setup(dropout=0.0, max_steps=10, gradient_accumulation_steps=3)
    assert len(setup.corpus.updates(0)[0].shares[0]) == 3
    joined = Joined(setup.corpus.pairs, seed=1, max_tokens=64, gradient_accumulation_steps=3, processes=1)
    accumulated = trained(setup)
    at_once = trained(replace(string_setup(dropout=0.0, max_steps=10, gradient_accumulation_steps=3), corpus=joined))
    for name, tensor in at_once.items():
        torch.testing.assert_close(accumulated[name], tensor, atol=1e-6, rtol=0, msg=name)


def test_one_batch_is_learned_by_heart() -> None:
    examples = tuple(Example(text, text[::-1]) for text in ("abc", "fed", "b", "cafe"))
    few = replace(string_task(), build=lambda: dict.fromkeys(("train", "valid", "test"), examples))
    setup = string_setup(task=few, d_model=32, max_steps=120, learning_rate=5e-3, dropout=0.0, label_smoothing=0.0)
    trainer = Trainer(setup, World(), None)
    assert len(setup.corpus.updates(0)) == 1
    while not trainer.done:
        trainer.update()
    update = setup.corpus.updates(0)[0]
    inputs = setup.corpus.inputs(update.shares[0][0])
    with torch.no_grad():
        assert trainer.loss(*inputs)[0].item() / update.target_tokens < 0.01


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that trained to its end, watched by a probe."""
    checkpoints = tmp_path_factory.mktemp("checkpoints")
    original = RunFolder.log

    def log_and_probe(self: RunFolder, *args: object, **values: object) -> None:
        original(self, *args, **values)
        (self.folder / "probe.json").write_text('{"source": "badface"}', encoding="utf-8")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "log", log_and_probe)
        assert run(checkpoints, partial(string_setup, snapshots=4))
    return checkpoints / "run"


def test_a_finished_run_is_a_complete_model_with_its_history(finished: Path) -> None:
    status = read_json(finished / STATUS)
    assert (status["state"], status["step"], status["max_steps"], status["error"]) == ("finished", 12, 12, None)
    assert isinstance(status["pid"], int)
    assert not is_alive(finished), "a finished run has no process, whatever process has its pid"
    lines = read_metrics(finished / METRICS)
    train = [line for line in lines if line["kind"] == "train"]
    evals = [line for line in lines if line["kind"] == "eval"]
    assert [line["step"] for line in train] == [1, 2, 4, 6, 8, 10, 12]
    assert [line["step"] for line in evals] == [4, 8, 12]
    measured = {"loss", "nll", "lr", "grad_norm", "tokens_per_s", "seconds"}
    assert set(train[0]) == {"kind", "step", "epoch", *measured}
    assert 0 < train[0]["seconds"] < train[-1]["seconds"]
    assert {"loss", "exact_match", "token_accuracy", "samples", "sentences"} <= set(evals[0])
    assert {"source", "target", "prediction"} == set(evals[0]["samples"][0])
    assert snapshot_steps(finished) == [0, 1, 5, 12]

    loaded = load_model(finished)
    config = read_json(finished / "config.json")
    assert loaded.summary["trained"]
    assert config["results"]["trained_steps"] == 12
    assert config["results"]["longest_source"] == max(len(pair.source) for pair in string_task().splits["train"])
    assert config["results"]["test"]["sentences"] == 8
    assert config["runtime"] == SETTLED.to_dict()
    assert f"exact match {config['results']['test']['exact_match']:.4f}" in loaded.card
    assert [summary["name"] for summary in list_models(finished.parent)] == ["run"]
    last, first = load_model(finished, snapshot=12).model, load_model(finished, snapshot=0).model
    for name, tensor in string_setup().model.state_dict().items():
        torch.testing.assert_close(first.state_dict()[name], tensor, atol=1e-3, rtol=1e-3)
    assert not torch.equal(first.output.weight, last.output.weight)
    if config["results"]["step"] == 12:
        torch.testing.assert_close(last.output.weight, loaded.model.output.weight, atol=1e-3, rtol=1e-3)
    assert AttentionTrace.load_npz(finished / "probe.npz").src_tokens == (*"badface", "<eos>")
    assert status["probe_step"] == 12


def test_the_weights_that_are_kept_have_a_snapshot_and_read_the_watched_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.training.trainer.is_better", lambda new, best, config: not best)
    assert run(tmp_path, partial(string_setup, snapshots=4))
    folder = tmp_path / "run"
    assert read_json(folder / "config.json")["results"]["step"] == 4
    assert 4 in (steps := snapshot_steps(folder))
    assert (steps[0], steps[-1], len(steps)) == (0, 12, 4)
    kept, snapshot = load_model(folder).model, load_model(folder, snapshot=4).model
    torch.testing.assert_close(kept.output.weight, snapshot.output.weight, atol=1e-3, rtol=1e-3)
    assert read_json(folder / STATUS)["probe_step"] == 4


def test_the_step_of_a_watched_map_is_written_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, object]] = []
    log = RunFolder.log

    def logged(folder: RunFolder, kind: Any, step: int, **values: Any) -> None:
        if kind == "eval":
            steps.append((step, read_json(folder.folder / STATUS).get("probe_step")))
        log(folder, kind, step, **values)

    monkeypatch.setattr("model.training.runfolder.STATUS_SECONDS", float("inf"))  # it is written for nothing else
    monkeypatch.setattr(RunFolder, "log", logged)
    assert run(tmp_path, string_setup)
    assert len(steps) > 1
    assert all(step == written for step, written in steps)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"source": 3}', '{"source": "  "}', '{"source": "' + "a" * 50 + '"}', "x" * 20_000]
)
def test_an_invalid_probe_is_ignored(tmp_path: Path, content: str) -> None:
    setup = string_setup()
    (tmp_path / "probe.json").write_text(content, encoding="utf-8")
    assert not answer_probe(tmp_path, setup.model, setup.source, setup.target)
    assert not (tmp_path / "probe.npz").exists()
    assert MAX_PROBE_BYTES < 20_000


def test_a_loss_that_is_not_a_number_fails_with_advice(tmp_path: Path) -> None:
    make = partial(string_setup, learning_rate=1e12, clip_norm=0.0, dropout=0.0)
    with pytest.raises(TrainingError, match=r"no longer a number at step \d+: lower learning_rate"):
        run(tmp_path, make)
    status = read_json(tmp_path / "run" / STATUS)
    assert status["state"] == "failed"
    assert "lower learning_rate" in status["error"]
    assert load_model(tmp_path / "run").model is not None, "the last good weights stay usable"


def test_a_stopped_run_is_a_trained_model_with_the_scores_so_far(tmp_path: Path) -> None:
    assert not run(tmp_path, string_setup, signals=StopAfter(9))
    loaded = load_model(tmp_path / "run")
    (evaluated,) = [line for line in read_metrics(tmp_path / "run" / METRICS) if line["kind"] == "eval"]
    assert loaded.summary["trained"]
    assert loaded.summary["results"]["valid"]["loss"] == evaluated["loss"]
    assert "On validation, after 4 updates; training has not finished:" in loaded.card
    RunFolder(tmp_path).status("running", eta_s=float("inf"))  # JSON, whatever the numbers
    RunFolder(tmp_path).log("train", 1, loss=float("nan"))
    assert json.loads((tmp_path / STATUS).read_text(encoding="utf-8"))["eta_s"] is None
    odd = ('{"step": ' + "9" * 5000 + "}", "[" * 100_000, '{"step": 1')  # lines that no parser takes count as cut off
    with (tmp_path / METRICS).open("a", encoding="utf-8") as file:
        file.write("\n".join((*odd, '{"step": 10}', *odd)))
    assert read_metrics(tmp_path / METRICS) == [{"kind": "train", "step": 1, "loss": None}, {"step": 10}]


def test_a_queued_run_that_is_stopped_never_trains_and_says_so(tmp_path: Path) -> None:
    with turn(tmp_path, lambda: None, lambda: True):
        assert not run(tmp_path, string_setup, signals=StopAfter(0))
    assert read_json(tmp_path / "run" / STATUS)["state"] == "stopped"
    assert read_metrics(tmp_path / "run" / METRICS) == []
    loaded = load_model(tmp_path / "run")
    assert not loaded.summary["trained"]
    assert "this model is untrained" in loaded.card


def test_errors_become_messages() -> None:
    config = string_setup().settings.training
    cpu = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried …"
    # PyTorch's own error; importing it would take each process of the tests two seconds.
    invalid = type("InvalidCxxCompiler", (RuntimeError,), {"__module__": "torch._inductor.exc"})
    for error, said in (
        (MemoryError(), "lower max_tokens (now 64"),
        (RuntimeError(cpu), "out of memory"),
        (torch.OutOfMemoryError("CUDA out of memory."), "out of memory"),
        (OSError(28, "No space left on device"), "the disk is full"),
        (OSError(27, "File too large"), "maximum size"),
        (
            invalid("No compiler found"),
            "torch.compile does not work here (No compiler found); start again without --compile.",
        ),
    ):
        assert said in str(sentence(error, config))
    assert sentence(RuntimeError("shape mismatch"), config) is None
    assert sentence(IndexError("list index out of range"), config) is None


def test_a_second_run_waits_its_turn_and_can_be_stopped_meanwhile(tmp_path: Path) -> None:
    waited = []
    with turn(tmp_path, lambda: None, lambda: True) as mine:
        assert mine
        with turn(tmp_path, lambda: waited.append("told"), lambda: len(waited) < 1) as second:
            assert not second
        with turn(tmp_path, lambda: waited.append("told"), lambda: False, wait=False) as impatient:
            assert impatient
    assert waited == ["told"]
    with turn(tmp_path, lambda: waited.append("told"), lambda: True) as free_again:
        assert free_again


def test_a_process_that_was_started_earlier_goes_first_and_a_dead_one_is_forgotten(tmp_path: Path) -> None:
    """Tickets name when a process was started; this one's parent was started before it and is alive."""
    line, parent, me = tmp_path / LINE, psutil.Process(os.getppid()), psutil.Process()
    line.mkdir()
    dead = line / f"{1000 * me.create_time() - 5000:015.0f}-{me.pid}"  # the id is taken, but by a later process
    dead.touch()
    with turn(tmp_path, lambda: pytest.fail("there is nobody before it"), lambda: True) as mine:
        assert mine
    assert not list(line.iterdir())
    earlier = line / f"{1000 * parent.create_time():015.0f}-{parent.pid}"
    earlier.touch()
    asked: list[str] = []

    def keep_waiting() -> bool:
        asked.append("still")
        if len(asked) == 3:
            earlier.unlink()  # it has taken its turn
        return len(asked) < 50

    with turn(tmp_path, lambda: asked.append("told"), keep_waiting) as mine:
        assert mine
    assert asked == ["told", "still", "still"]
    assert not list(line.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no zombies")
def test_a_run_whose_process_has_ended_unseen_is_not_alive(tmp_path: Path) -> None:
    """Its parent has not waited for it, so the system still lists it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = psutil.Process(process.pid)
    write_json(tmp_path / STATUS, {"state": "running", "pid": process.pid, "started": known.create_time()})
    assert is_alive(tmp_path)
    assert process.stdin is not None
    process.stdin.close()
    while known.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert not is_alive(tmp_path)
    process.wait()


def test_the_progress_line_shows_the_remaining_time(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(100, live=True)
    time.sleep(0.15)  # it is drawn at most ten times a second
    terminal.tick(25, (90.0, 150.0), 12_345.0)
    drawn = capsys.readouterr().err
    assert "██████░" in drawn
    assert "25/100, 1 to 3 min left, 12,345 tokens/s" in drawn


def test_a_new_run_watches_a_sentence_of_its_own(tmp_path: Path) -> None:
    """So that its heads can be drawn from the first evaluation on, whether or not anybody looks at the page."""
    setup = string_setup()
    folder = create_folder(setup, tmp_path, overwrite=False)
    asked = read_probe(folder)
    sources = [example.source for example in setup.valid.examples]
    assert asked in sources
    assert sorted(map(len, sources))[0] <= len(asked) <= sorted(map(len, sources))[-1]
    assert answer_probe(folder, setup.model, setup.source, setup.target)
    assert AttentionTrace.load_npz(folder / "probe.npz").src_tokens[:-1] == tuple(asked)


def test_a_short_run_is_scored_early_and_this_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = partial(string_setup, max_steps=30, eval_every=25)
    run(tmp_path / "looked", make)
    monkeypatch.setattr("model.training.trainer.first_look", lambda *_: 0)
    run(tmp_path / "plain", make)
    looked, plain = (read_metrics(tmp_path / name / "run" / METRICS) for name in ("looked", "plain"))
    assert [line["step"] for line in looked if line["kind"] == "look"] == [20]
    assert [line["step"] for line in looked if line["kind"] == "eval"] == [25, 30]
    assert not [line for line in plain if line["kind"] == "look"]
    weights = [(tmp_path / name / "run" / WEIGHTS).read_bytes() for name in ("looked", "plain")]
    assert weights[0] == weights[1], "to the bit"
    assert [first_look(*run) for run in ((750, 100), (750, 20), (20, 100), (1500, 100))] == [20, 0, 0, 0]
