"""Runs that die: killed at any moment, terminated by the system, out of disk space, out of memory."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import psutil
import pytest

from model import train
from model.checkpoint import load_model
from model.commands import run_command
from model.folder import METRICS, STATUS, CheckpointError, read_json
from model.training.runfolder import is_alive, read_metrics, refuse_running
from tests.forked import Forked
from tests.model.engine import SMALL, pairs_file
from tests.model.training.test_resume import assert_same_run

resource = pytest.importorskip("resource", reason="limits of a process are set through the resource module")

pytestmark = pytest.mark.slow  # real processes
SIZES = [*SMALL, "tokenizer=whitespace", "n_encoder_layers=1", "n_decoder_layers=1"]
STEPS = ["max_steps=48", "eval_every=16", "save_every=7", "log_every=1", "eval_sentences=8", "snapshots=4"]
LONG_WAIT = 120.0


def command(checkpoints: Path, *arguments: str) -> list[str]:
    return [*arguments, "--checkpoints", str(checkpoints), "--device", "cpu", "--threads", "1"]


def start(checkpoints: Path, *arguments: str, limits: dict[int, int] | None = None) -> Forked:
    def run() -> None:
        for which, most in (limits or {}).items():
            resource.setrlimit(which, (most, most))
        run_command(train.main, command(checkpoints, *arguments))

    return Forked(run, checkpoints / "printed")


def wait_for_step(folder: Path, step: int, process: Forked) -> None:
    deadline = time.monotonic() + LONG_WAIT
    while time.monotonic() < deadline:
        lines = read_metrics(folder / METRICS)
        if lines and lines[-1]["step"] >= step:
            return
        assert process.code is None, process.wait(0)
        time.sleep(0.01)
    raise AssertionError(f"step {step} was not reached in {LONG_WAIT} s")


def test_killed_terminated_and_resumed_is_the_same_run(tmp_path: Path) -> None:
    """kill -9 at a random moment, resume, SIGTERM, resume: the same bits as a run without interruptions."""
    new = [*pairs_file(tmp_path), "--name", "run", "--set", *SIZES, *STEPS]
    folder = tmp_path / "run"
    killed = start(tmp_path, *new)
    wait_for_step(folder, 9, killed)
    time.sleep(random.Random(0).uniform(0, 0.1))
    assert is_alive(folder)
    with pytest.raises(CheckpointError, match="being trained right now"):
        refuse_running(folder)
    killed.kill()
    assert read_json(folder / STATUS)["state"] == "running", "a killed process says nothing"
    assert not is_alive(folder)
    reached = read_metrics(folder / METRICS)[-1]["step"]

    whole = tmp_path / "elsewhere" / "run"
    shutil.copytree(folder, whole)
    shutil.rmtree(whole / "state")  # without a save it starts over, and runs to the end without interruption

    ended = start(tmp_path, "--resume", "run")
    wait_for_step(folder, max(25, reached + 1), ended)  # a step of its own: it listens to signals by now
    os.kill(ended.pid, signal.SIGTERM)
    out, err = ended.wait(LONG_WAIT)
    assert ended.code == 0, err
    assert "run stopped; continue with --resume run." in out
    assert read_json(folder / STATUS)["state"] == "stopped"

    for checkpoints in (tmp_path, whole.parent):
        assert train.main(command(checkpoints, "--resume", "run")) == 0
    assert_same_run(folder, whole)
    steps = [line["step"] for line in read_metrics(folder / METRICS) if line["kind"] == "train"]
    assert steps == list(range(1, 49)), "each step once"


def test_a_full_disk_fails_with_a_message_and_can_be_resumed(tmp_path: Path) -> None:
    """The state (weights and two moments) does not fit on the disk; the weights alone did."""
    new = [*pairs_file(tmp_path), "--name", "run", "--set", *SIZES, "max_steps=6", "save_every=3"]
    process = start(tmp_path, *new, limits={resource.RLIMIT_FSIZE: 40_000})
    _, err = process.wait(LONG_WAIT)
    assert process.code == 2
    assert err.strip().splitlines()[-1].startswith("a file has reached its maximum size: free some space")
    status = read_json(tmp_path / "run" / STATUS)
    assert (status["state"], status["error"]) == ("failed", err.strip().splitlines()[-1])
    assert not list((tmp_path / "run").glob("**/*.tmp"))
    assert load_model(tmp_path / "run").model is not None
    assert train.main(command(tmp_path, "--resume", "run")) == 0
    assert read_json(tmp_path / "run" / STATUS)["state"] == "finished"


def test_out_of_memory_fails_with_a_message(tmp_path: Path) -> None:
    """The process may use 200 MB more than at its start; a batch of all the data needs more."""
    settings = ["tokenizer=whitespace", "d_model=128", "d_ff=512", "max_tokens=2000000", "snapshots=0"]
    new = [*pairs_file(tmp_path, n=9000), "--name", "run", "--preset", "tiny", "--set", *settings]
    process = start(tmp_path, *new, limits={resource.RLIMIT_AS: psutil.Process().memory_info().vms + 200 * 2**20})
    _, err = process.wait(LONG_WAIT)
    assert process.code == 2, err[-2000:]
    assert err.strip().splitlines()[-1].startswith("out of memory: lower max_tokens (now 2000000")
    assert read_json(tmp_path / "run" / STATUS)["state"] == "failed"
