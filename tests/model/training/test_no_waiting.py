"""Nothing in an update waits for the device: on a GPU, the host would stand still until all queued work is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from model.config import ConfigError
from model.training.device import resolve_device
from model.training.distributed import World
from model.training.loss import TrainingLoss
from model.training.trainer import Trainer
from tests.model.engine import SETTLED, string_setup

READS = {"_local_scalar_dense", "is_nonzero", "nonzero", "masked_select", "equal", "unique_consecutive", "bincount"}
"""Operations whose result, or the shape of it, the host must know before it goes on."""


class Waits(TorchDispatchMode):
    """Counts the operations that wait for a device, by name, in the forward and the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        by_mask = name.startswith(("index", "_index")) and any(
            isinstance(index, Tensor) and index.dtype in (torch.bool, torch.uint8)
            for argument in args
            for index in (argument if isinstance(argument, (list, tuple)) else ())
        )
        if name in READS or by_mask:
            self.counted.append(name)
        return func(*args, **(kwargs or {}))


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the methods that copy a tensor to the host, as they are called."""
    called: list[str] = []

    def watched(name: str) -> None:
        original = getattr(Tensor, name)

        def copy(self: Tensor, *arguments: Any, **options: Any) -> Any:
            called.append(name)
            return original(self, *arguments, **options)

        monkeypatch.setattr(Tensor, name, copy)

    for name in ("cpu", "item", "tolist", "numpy", "__bool__", "__float__", "__int__"):
        watched(name)
    return called


def waits_in(trainer: Trainer, number: int, copies: list[str]) -> list[str]:
    """What waits in an update. Its inputs are made on the CPU beforehand, and may look at their numbers."""
    update = trainer.setup.corpus.updates(0)[number - 1]
    inputs = list(trainer._inputs(update, number))
    trainer._inputs = lambda update, step: iter(inputs)  # type: ignore[method-assign]
    copies.clear()
    with Waits() as waits:
        trainer.gradients(update, number)
    return [*waits.counted, *copies]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"dropout": 0.0},
        {"gradient_accumulation_steps": 3},
        {"consistency": "simcut"},
        {"consistency": "rdrop", "label_smoothing": 0.0},
    ],
    ids=str,
)
def test_an_update_never_waits_for_the_device(changes: dict[str, Any], copies: list[str]) -> None:
    trainer = Trainer(string_setup(**changes), World(), None)
    trainer.update()
    assert waits_in(trainer, 2, copies) == []


def test_a_wait_is_noticed(monkeypatch: pytest.MonkeyPatch, copies: list[str]) -> None:
    original = TrainingLoss._hidden

    def waiting(self: TrainingLoss, src: Tensor, tgt_in: Tensor, padded: bool) -> Tensor:
        assert src[src > 0].max() > 0
        return original(self, src, tgt_in, padded)

    trainer = Trainer(string_setup(), World(), None)
    monkeypatch.setattr(TrainingLoss, "_hidden", waiting)
    waited = waits_in(trainer, 1, copies)
    assert (waited[0], waited[-1], waited.count("__bool__")) == ("index", "__bool__", 1)


def test_one_gpu_is_not_given_to_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert resolve_device("cuda:1") == "cuda:1"
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    assert resolve_device("cuda") == resolve_device("auto") == "cuda:3"
    with pytest.raises(ConfigError, match="--device cuda gives each its own"):
        resolve_device("cuda:1")


@pytest.mark.slow
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
