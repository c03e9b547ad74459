"""Runs on one machine, as real processes: they wait, say so, and take turns in the order of their start."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from explorer.runs.command import TrainingOrder
from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES, read_launch
from explorer.runs.progress import queue_sentence
from model.folder import METRICS
from tests.explorer.runs.test_status import wait_until

pytestmark = pytest.mark.nightly  # real processes; the rules of the queue: tests/model/training/test_loop.py
TINY = {"d_model": 16, "d_ff": 16, "n_encoder_heads": 2, "n_decoder_heads": 2, "eval_sentences": 8, "snapshots": 0}
PATIENCE = 120.0  # seconds; the machine may be busy with other things


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    """Runs in a separate folder; all processes started there are ended."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = Runs(tmp_path)
    yield found
    for path in (tmp_path / LAUNCHES).glob("*.json"):
        launch = read_launch(tmp_path, path.stem)
        if launch is not None and launch.alive:
            psutil.Process(launch.pid).kill()


def start(runs: Runs, name: str, max_steps: int) -> None:
    settings = {**TINY, "max_steps": max_steps, "eval_every": max_steps, "save_every": max_steps, "log_every": 1}
    changes = (("tokenizer", "whitespace"), *((key, str(value)) for key, value in settings.items()))
    order = TrainingOrder(name, "adjective-swap", "tiny", changes, device="cpu", precision="fp32")
    runs.start(name, order.command(runs.checkpoints))


def is_in(state: str, runs: Runs, name: str) -> bool:
    status = runs.peek(name)
    return status is not None and status.state == state


def suspended(runs: Runs, name: str) -> psutil.Process:
    """The run's process, stopped where it is: it keeps its turn or its place, and leaves the processor to others."""
    launch = runs.launch(name)
    assert launch is not None
    process = psutil.Process(launch.pid)
    process.suspend()
    return process


def test_runs_take_turns_in_the_order_of_their_start_and_a_resumed_one_comes_last(runs: Runs) -> None:
    """First, second and third are started, first is killed and resumed: it then waits behind the others."""
    start(runs, "first", 1_000_000)
    wait_until(lambda: (runs.folder("first") / METRICS).is_file(), PATIENCE)
    first = suspended(runs, "first")
    for name in ("second", "third"):
        start(runs, name, 3)
        wait_until(partial(is_in, "queued", runs, name), PATIENCE)
    statuses = runs.statuses()
    assert [status.name for status in statuses] == ["first", "second", "third"]
    assert queue_sentence(statuses, "third").startswith("It waits until 'first' and 'second' have ended.")
    wait_until(lambda: (runs.peek("third") or statuses[0]).left is not None, PATIENCE)
    assert not (runs.folder("second") / METRICS).exists()

    second = suspended(runs, "second")  # nobody overtakes it, although the turn is free
    first.kill()
    wait_until(partial(is_in, "failed", runs, "first"), PATIENCE)
    runs.resume("first")
    wait_until(partial(is_in, "queued", runs, "first"), PATIENCE)
    assert [status.name for status in runs.statuses()] == ["second", "third", "first"]
    assert not (runs.folder("third") / METRICS).exists()
    second.resume()
    wait_until(partial(is_in, "finished", runs, "third"), PATIENCE)
    assert is_in("finished", runs, "second")
    metrics = [(runs.folder(name) / METRICS).stat().st_mtime for name in ("second", "third")]
    assert metrics == sorted(metrics)
    wait_until(partial(is_in, "running", runs, "first"), PATIENCE)
    runs.stop("first")
    wait_until(partial(is_in, "stopped", runs, "first"), PATIENCE)
    launches = [runs.launch(name) for name in ("first", "second", "third")]
    wait_until(lambda: not any(launch.alive for launch in launches), PATIENCE)
