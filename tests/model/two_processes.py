"""The work of each of two processes in the test of DDP; with RANK and WORLD_SIZE set, as torchrun sets them."""

import contextlib
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from model import scoring
from model.training.device import Runtime
from model.training.distributed import World, joined_world
from model.training.evaluation import evaluate
from model.training.optimizer import optimizer_tensors
from model.training.trainer import StopRequested, Trainer
from tests.model.engine import string_setup, syllable_task

STEPS = 10
FEW_TOKENS = 10  # per evaluation batch, which gives one process two batches and the other three
STOPS = (1, 3, 5, 99)
KINDS: dict[str, dict[str, Any]] = {
    "": {"max_tokens": 40},
    "bpe.": {"task": syllable_task(), "bpe_dropout": 0.3},
    "simcut.": {"max_tokens": 40, "consistency": "simcut", "cutoff": 0.3},
}


def trainer_for(world: World, accumulation: int, dtype: torch.dtype = torch.float64, kind: str = "") -> Trainer:
    """A trainer whose updates have the same examples for any number of processes."""
    runtime = Runtime(precision="fp32", threads=1, settled=True, processes=world.size)
    options = {"dropout": 0.0, "max_steps": STEPS, "gradient_accumulation_steps": accumulation, **KINDS[kind]}
    setup = string_setup(runtime=runtime, **options)
    setup.model.to(dtype)
    return Trainer(setup, world, None)


def weights_after_training(world: World, accumulation: int, kind: str) -> dict[str, torch.Tensor]:
    """float64 weights after ten updates; of resampled subwords, the ids of two epochs too."""
    trainer = trainer_for(world, accumulation, kind=kind)
    ids = [trainer.setup.corpus.pairs_of(epoch).sources for epoch in (0, 1)] if kind == "bpe." else []
    while not trainer.done:
        trainer.update()
    assert not ids or trainer.progress.epoch > 1
    weights = {f"{kind}weights.{name}": tensor.clone() for name, tensor in trainer.model.state_dict().items()}
    return weights | {f"{kind}ids": torch.tensor([i for epoch in ids for line in epoch for i in (-1, *line)])}


def first_gradients(world: World, accumulation: int) -> dict[str, torch.Tensor]:
    """float32 gradients of the first update, before clipping."""
    trainer = trainer_for(world, accumulation, torch.float32)
    trainer.gradients(trainer.setup.corpus.updates(0)[0], 1)
    return {f"gradient.{name}": p.grad.clone() for name, p in trainer.model.named_parameters() if p.grad is not None}


def evaluation(world: World) -> dict[str, torch.Tensor]:
    """Sums over the validation set and its translations, in batches so small that one process has more of them."""
    trainer = trainer_for(world, 1)
    setup = trainer.setup
    scores = evaluate(setup.model, setup.target, setup.task, setup.valid, world, check=trainer.check_stop)
    sums = [scores.tokens.nll, scores.tokens.correct, scores.tokens.tokens]
    text = "\n".join(scores.predictions).encode()
    return {"eval.sums": torch.tensor(sums).double(), "eval.text": torch.tensor(list(text), dtype=torch.uint8)}


def sums_after_resuming(world: World) -> dict[str, torch.Tensor]:
    """Sums of the training loss since the last log line: after three updates, and after a resumed run's next two."""
    trainer, resumed = (trainer_for(world, 2 // world.size) for _ in range(2))
    for _ in range(3):
        trainer.update()
    trainer.save()
    tensors = {f"model.{name}": tensor for name, tensor in trainer.model.state_dict().items()}
    resumed.restore(trainer.progress, tensors | optimizer_tensors(trainer.optimizer, trainer.model))
    for _ in range(2):
        resumed.update()
    saved = trainer.progress
    numbers = (saved.loss, saved.nll, saved.target_tokens, *resumed.sums_since_log())
    return {"sums": torch.tensor(numbers, dtype=torch.float64)}


def everything(world: World) -> dict[str, torch.Tensor]:
    """Everything that must not depend on the number of processes: an update has four batches in all."""
    accumulation = 4 // world.size
    results = first_gradients(world, accumulation) | evaluation(world) | sums_after_resuming(world)
    for kind in KINDS:
        results |= weights_after_training(world, accumulation, kind)
    return {name: tensor.contiguous() for name, tensor in results.items()}


def questions_until_stopped(world: World, which: int) -> int:
    """The number of checks until this process stops, if only the last process is told to, at its check `which`."""
    asked = 0

    def told() -> bool:
        nonlocal asked
        asked += 1
        return world.rank == world.size - 1 and asked == which

    trainer = trainer_for(world, 1)
    trainer.asked_to_stop = told
    setup = trainer.setup
    with contextlib.suppress(StopRequested):
        evaluate(setup.model, setup.target, setup.task, setup.valid, world, check=trainer.check_stop)
    return asked


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    scoring.SCORING_TOKENS = FEW_TOKENS
    with joined_world("cpu") as world:
        results = everything(world)
        results["stop.questions"] = torch.tensor([questions_until_stopped(world, which) for which in STOPS])
        half, empty = torch.arange(6).half().view(2, 3).T, torch.zeros(0)
        results |= world.share_tensors({"shared.half": half, "shared.empty": empty} if world.is_main else {})
        safetensors.torch.save_file(results, folder / f"rank{world.rank}.safetensors")
