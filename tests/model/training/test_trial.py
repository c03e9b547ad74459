"""How `auto` is resolved: precision, kernel and threads, timed on a part of the real work."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest
import torch

from model.training.device import TIMED_REPEATS, OtherWork, Runtime, seconds_of
from model.training.distributed import World
from model.training.trainer import Trainer
from model.training.trial import choose_runtime
from tests.model.engine import string_setup


@pytest.mark.parametrize(
    ("times", "precision", "threads"),
    [
        ([8.0, 4.0, 4.0, 2.0], "bf16", 2),  # each gains
        ([4.0, 3.9, 4.1, 4.0], "fp32", 1),  # neither is worth it
        ([8.0, 4.0, 8.0, 4.1], "fp32", 2),
        ([4.0, 6.0, 2.0, 3.0], "bf16", 1),
    ],
)
def test_auto_takes_the_simplest_of_the_fastest(
    monkeypatch: pytest.MonkeyPatch, times: list[float], precision: str, threads: int
) -> None:
    """Times are those of fp32 with one and two threads, then of bf16 with one and two."""
    monkeypatch.setattr("model.training.trial.OtherWork.cores", lambda self: 0.0)
    monkeypatch.setattr("model.training.trial.cpu_multiplies_bf16", lambda: True)
    monkeypatch.setattr("model.training.trial.default_threads", lambda: 2)
    monkeypatch.setattr("model.training.trial.seconds_of", lambda works: times)
    setup = string_setup()
    chosen = choose_runtime(setup.model, setup.corpus, Runtime(), 0.1)
    assert (chosen.precision, chosen.threads, chosen.settled) == (precision, threads, True)


@pytest.mark.parametrize(("worth", "threads"), [(5e9, 1), (5e4, 2)])
def test_while_others_are_busy_the_size_of_a_batch_decides_about_threads(
    monkeypatch: pytest.MonkeyPatch, worth: float, threads: int
) -> None:
    monkeypatch.setattr("model.training.trial.WORTH_THREADS", worth)
    monkeypatch.setattr("model.training.trial.cpu_multiplies_bf16", lambda: True)
    monkeypatch.setattr("model.training.trial.default_threads", lambda: 2)
    monkeypatch.setattr("model.training.trial.seconds_of", lambda works: [1.0, 0.8, 0.7, 1.4])  # one thread wins
    monkeypatch.setattr("model.training.trial.OtherWork.cores", lambda self: 0.9)
    setup = string_setup()
    chosen = choose_runtime(setup.model, setup.corpus, Runtime(), 0.1)
    assert (chosen.precision, chosen.threads) == ("bf16", threads)


@pytest.mark.parametrize(("enough", "calls"), [(0.0, 2), (60.0, 1 + TIMED_REPEATS)])
def test_a_trial_of_long_steps_is_cut_short(monkeypatch: pytest.MonkeyPatch, enough: float, calls: int) -> None:
    """The first turn is a warm-up; at least one turn is timed."""
    monkeypatch.setattr("model.training.device.ENOUGH_SECONDS", enough)
    made = []
    times = seconds_of([lambda: made.append("a"), lambda: made.append("b")])
    assert made == ["a", "b"] * calls
    assert all(0 <= time < 60 for time in times)


def test_the_load_of_other_processes_is_measured_and_ones_own_is_not() -> None:
    """A busy loop counts as at least half a core, whatever else the machine does."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        seen = OtherWork()
        known = psutil.Process(busy.pid)
        while known.cpu_times().user < 0.5:
            time.sleep(0.02)
        passed = time.perf_counter() - seen._began
        assert seen.cores() > 0.5 * 0.5 / passed
    finally:
        busy.kill()
        busy.wait()


def test_explicit_choices_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.training.trial.seconds_of", lambda works: pytest.fail("nothing was left open"))
    setup = string_setup()
    chosen = choose_runtime(setup.model, setup.corpus, Runtime(precision="bf16", threads=3), 0.1)
    assert (chosen.precision, chosen.threads) == ("bf16", 3)
    monkeypatch.setattr("model.training.trial.cpu_multiplies_bf16", lambda: False)
    assert choose_runtime(setup.model, setup.corpus, Runtime(threads=1), 0.1).precision == "fp32"


def test_a_trial_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.training.trial.default_threads", lambda: 2)
    setup = string_setup()
    before = {name: tensor.clone() for name, tensor in setup.model.state_dict().items()}
    assert choose_runtime(setup.model, setup.corpus, Runtime(), 0.1).settled
    assert all(parameter.grad is None for parameter in setup.model.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in setup.model.state_dict().items())
    assert torch.get_num_threads() == 1


def test_attention_dropout_takes_the_explicit_kernel_on_a_cpu() -> None:
    setup = string_setup()
    setup.model.config = replace(setup.model.config, attention_dropout=0.1)
    assert not choose_runtime(setup.model, setup.corpus, Runtime(), 0.1).fused


def test_bf16_trains_in_full_precision_weights() -> None:
    setup = string_setup(runtime=Runtime(precision="bf16", threads=1, settled=True), dropout=0.0)
    trainer = Trainer(setup, World(), None)
    exact = Trainer(string_setup(dropout=0.0), World(), None)
    trainer.update()
    exact.update()
    for rounded, parameter in zip(trainer.model.parameters(), exact.model.parameters(), strict=True):
        assert rounded.dtype == torch.float32
        torch.testing.assert_close(rounded, parameter, atol=5e-3, rtol=0.1)
