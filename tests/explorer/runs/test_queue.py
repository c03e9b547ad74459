"""Two runs on one machine, as real processes: the second waits, says so, and trains once the first has ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from explorer.runs.command import TrainingOrder
from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES, read_launch
from model.folder import METRICS
from tests.explorer.runs.test_status import wait_until

pytestmark = pytest.mark.slow  # real processes
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
    changes = tuple((key, str(value)) for key, value in settings.items())
    order = TrainingOrder(name, "reverse", "tiny", changes, device="cpu", precision="fp32")
    runs.start(name, order.command(runs.checkpoints))


def state(runs: Runs, name: str) -> str:
    status = runs.peek(name)
    assert status is not None
    assert not status.error
    return status.state


def test_the_second_run_waits_for_the_first(runs: Runs) -> None:
    start(runs, "first", 1_000_000)
    wait_until(lambda: (runs.folder("first") / METRICS).is_file(), PATIENCE)
    first = runs.launch("first")
    assert first is not None
    psutil.Process(first.pid).suspend()  # it keeps its turn, and leaves the processor to the second
    start(runs, "second", 3)
    wait_until(lambda: state(runs, "second") == "queued", PATIENCE)
    assert state(runs, "first") == "running"
    assert [status.name for status in runs.statuses()] == ["first", "second"]
    assert not (runs.folder("second") / METRICS).exists()

    psutil.Process(first.pid).resume()
    runs.stop("first")
    wait_until(lambda: state(runs, "second") == "finished", PATIENCE)
    assert state(runs, "first") == "stopped"
    assert "step" in (runs.folder("second") / METRICS).read_text(encoding="utf-8")
    launch = runs.launch("second")
    assert launch is not None
    wait_until(lambda: not launch.alive, PATIENCE)
