"""How `auto` is resolved: precision, kernel and threads, by rule."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from model import train
from model.commands import run_command
from model.config import ConfigError, TrainConfig
from model.fast.matmul import onednn_keeps_float32
from model.folder import WEIGHTS, read_config
from model.training import device
from model.training.device import Runtime, batch_operations, choose_runtime, cpu_multiplies_bf16, resolve_device
from model.training.distributed import World
from model.training.trainer import Trainer
from tests.forked import Forked
from tests.model.engine import SETTLED, pairs_file, string_setup


@pytest.mark.parametrize(
    ("rounds", "weights", "operations", "precision", "threads"),
    [
        (True, 1, 1, "bf16", 4),
        (False, 1, 1, "fp32", 4),  # no instructions for bf16
        (True, 10**9, 1, "fp32", 4),  # a small output projection
        (True, 1, 10**18, "bf16", 1),  # a small batch
    ],
)
def test_auto_follows_from_the_machine_and_the_sizes(
    monkeypatch: pytest.MonkeyPatch, rounds: bool, weights: int, operations: int, precision: str, threads: int
) -> None:
    """A choice that was made explicitly stays."""
    here = {"cpu_multiplies_bf16": lambda: rounds, "default_threads": lambda: 4}
    for name, value in (here | {"BF16_WEIGHTS": weights, "THREAD_OPERATIONS": operations}).items():
        monkeypatch.setattr(device, name, value)
    setup = string_setup()
    chosen = choose_runtime(setup.model, setup.corpus, Runtime(), setup.settings.training)
    assert (chosen.precision, chosen.threads, chosen.settled) == (precision, threads, True)
    explicit = choose_runtime(setup.model, setup.corpus, Runtime(precision="bf16", threads=3), setup.settings.training)
    assert (explicit.precision, explicit.threads) == ("bf16", 3)
    setup.model.config = replace(setup.model.config, attention_dropout=0.1)
    assert not choose_runtime(setup.model, setup.corpus, Runtime(), setup.settings.training).fused, "explicit on a CPU"


def test_an_older_pytorch_trains_in_float32_by_its_own_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot say what the processor has."""
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    onednn_keeps_float32.cache_clear()
    assert not cpu_multiplies_bf16()
    assert not onednn_keeps_float32()
    onednn_keeps_float32.cache_clear()


def test_a_thread_for_so_many_operations_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six per parameter and token, twice with two views; no more threads than cores, nor more tokens than there are."""
    setup = string_setup(max_tokens=64)
    parameters = sum(parameter.numel() for parameter in setup.model.parameters())
    counted = partial(batch_operations, setup.model, setup.corpus)
    assert counted(TrainConfig(max_tokens=64)) == 6 * parameters * 64
    assert counted(TrainConfig(max_tokens=64, consistency="rdrop")) == 2 * 6 * parameters * 64
    assert counted(TrainConfig(max_tokens=10**6)) == 6 * parameters * sum(map(max, setup.corpus.lengths))
    monkeypatch.setattr(device, "default_threads", lambda: 8)
    for share, threads in ((0.9, 1), (2.5, 2), (100, 8)):
        operations = int(counted(setup.settings.training) / share)
        monkeypatch.setattr(device, "THREAD_OPERATIONS", operations)
        assert choose_runtime(setup.model, setup.corpus, Runtime(), setup.settings.training).threads == threads


@pytest.mark.nightly  # without the other processes, tests/model/test_reproduce.py compares weights
def test_the_same_command_gives_the_same_weights_whatever_else_runs(tmp_path: Path) -> None:
    """On a machine left alone, as far as the tests leave it alone, and beside a process on each core."""
    sizes = ["d_model=64", "d_ff=128", "max_steps=6", "eval_every=3", "eval_sentences=4", "snapshots=0", "dropout=0.1"]
    weights, runtimes = [], []
    for number in range(2):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * number)]
        try:
            command = [*pairs_file(tmp_path), "--name", f"run{number}", "--checkpoints", str(tmp_path)]
            command += ["--device", "cpu", "--set", *sizes, "tokenizer=characters"]
            run = Forked(partial(run_command, train.main, command), tmp_path / f"printed{number}")
            _, err = run.wait(240)
            assert run.code == 0, err
        finally:
            for process in busy:
                process.kill()
                process.wait()
        weights.append((tmp_path / f"run{number}" / WEIGHTS).read_bytes())
        runtimes.append(read_config(tmp_path / f"run{number}")["runtime"])
    assert len(set(weights)) == 1
    assert runtimes[0] == runtimes[1]
    card = (tmp_path / "run0" / "README.md").read_text(encoding="utf-8")
    runtime = runtimes[0]
    assert f"--device cpu --precision {runtime['precision']} --threads {runtime['threads']} " in card
    assert f"computed on cpu in {runtime['precision']} with " in card
    assert runtime["torch_version"] in card


def test_one_gpu_is_not_given_to_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert resolve_device("cuda:1") == "cuda:1"
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert resolve_device("cuda") == resolve_device("auto") == "cuda:3"
    with pytest.raises(ConfigError, match="--device cuda gives each its own"):
        resolve_device("cuda:1")


READS = {"_local_scalar_dense", "is_nonzero", "nonzero", "masked_select", "equal", "unique_consecutive", "bincount"}
"""Operations whose result, or the shape of it, the host must know before it goes on."""


class Waits(TorchDispatchMode):
    """The names of operations for which the host would wait until a GPU has done all queued work."""

    def __init__(self) -> None:
        super().__init__()
        self.named: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        indices = [each for given in args if isinstance(given, (list, tuple)) for each in given if each is not None]
        by_mask = "index" in name and any(getattr(each, "dtype", None) == torch.bool for each in indices)
        if name in READS or by_mask:
            self.named.append(name)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("changes", [{"dropout": 0.0}, {"consistency": "simcut"}, {"consistency": "rdrop"}], ids=str)
def test_an_update_never_waits_for_the_device(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its inputs are made on the CPU beforehand, and may look at their numbers."""
    trainer = Trainer(string_setup(gradient_accumulation_steps=3, **changes), World(), None)
    update = trainer.setup.corpus.updates(0)[0]
    inputs = list(trainer._inputs(update, 1))
    monkeypatch.setattr(trainer, "_inputs", lambda update, step: iter(inputs))
    copies = mock.Mock(side_effect=AssertionError("a tensor is copied to the host"))
    with Waits() as waits, monkeypatch.context() as patch:
        for name in ("cpu", "item", "tolist", "numpy", "__bool__", "__float__", "__int__"):
            patch.setattr(torch.Tensor, name, copies)
        trainer.gradients(update, 1)
    assert waits.named == []


@pytest.mark.nightly  # only another version of PyTorch breaks it
@pytest.mark.parametrize("changes", [{}, {"consistency": "simcut"}], ids=str)
def test_a_compiled_forward_pass_is_one_graph(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of other sizes do not compile it anew without end, and the loss is that of the plain model."""
    graphs: list[int] = []

    def backend(graph: torch.fx.GraphModule, example_inputs: object) -> Any:
        graphs.append(len(graph.graph.nodes))
        return graph

    compile_function = torch.compile
    monkeypatch.setattr(torch, "compile", lambda *a, **k: compile_function(*a, **k, backend=backend))
    trainer = Trainer(string_setup(runtime=replace(SETTLED, compile=True), dropout=0.0, **changes), World(), None)
    plain = Trainer(string_setup(dropout=0.0, **changes), World(), None)
    for _ in range(6):
        trainer.update()
        plain.update()
    for compiled, parameter in zip(trainer.model.parameters(), plain.model.parameters(), strict=True):
        torch.testing.assert_close(compiled, parameter, rtol=1e-3, atol=1e-5)
    assert 1 <= len(graphs) <= 3
