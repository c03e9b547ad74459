"""The work of each of two processes in the test of DDP; with RANK and WORLD_SIZE set, as torchrun sets them."""

from __future__ import annotations

import contextlib
from pathlib import Path

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


def trainer_for(world: World, dtype: torch.dtype, gradient_accumulation_steps: int) -> Trainer:
    """A trainer whose updates have the same examples for any number of processes."""
    runtime = Runtime(precision="fp32", threads=1, settled=True, processes=world.size)
    setup = string_setup(
        runtime=runtime,
        dropout=0.0,
        gradient_accumulation_steps=gradient_accumulation_steps,
        max_steps=STEPS,
        max_tokens=40,
    )
    setup.model.to(dtype)
    return Trainer(setup, world, None)


def weights_after_training(world: World, gradient_accumulation_steps: int) -> dict[str, torch.Tensor]:
    """float64 weights after ten updates."""
    trainer = trainer_for(world, torch.float64, gradient_accumulation_steps)
    while not trainer.done:
        trainer.update()
    return {f"weights.{name}": tensor.clone() for name, tensor in trainer.model.state_dict().items()}


def first_gradients(world: World, gradient_accumulation_steps: int) -> dict[str, torch.Tensor]:
    """float32 gradients of the first update, before clipping."""
    trainer = trainer_for(world, torch.float32, gradient_accumulation_steps)
    trainer.gradients(trainer.setup.corpus.updates(0)[0], 1)
    return {f"gradient.{name}": p.grad.clone() for name, p in trainer.model.named_parameters() if p.grad is not None}


def evaluation(world: World) -> dict[str, torch.Tensor]:
    """Sums over the validation set and its translations, in batches so small that one process has more of them."""
    trainer = trainer_for(world, torch.float64, 1)
    setup = trainer.setup
    scores = evaluate(setup.model, setup.target, setup.task, setup.valid, world, check=trainer.check_stop)
    text = "\n".join(scores.predictions).encode()
    return {
        "eval.sums": torch.tensor(
            [scores.tokens.nll, scores.tokens.correct, scores.tokens.tokens], dtype=torch.float64
        ),
        "eval.text": torch.tensor(list(text), dtype=torch.uint8),
    }


def questions_until_stopped(world: World, which: int) -> int:
    """The number of checks until this process stops, if only the last process is told to, at its check `which`."""
    asked = 0

    def told() -> bool:
        nonlocal asked
        asked += 1
        return world.rank == world.size - 1 and asked == which

    trainer = trainer_for(world, torch.float64, 1)
    trainer.asked_to_stop = told
    setup = trainer.setup
    with contextlib.suppress(StopRequested):
        evaluate(setup.model, setup.target, setup.task, setup.valid, world, check=trainer.check_stop)
    return asked


def everything(world: World, gradient_accumulation_steps: int) -> dict[str, torch.Tensor]:
    """Everything that must not depend on the number of processes."""
    results = (
        weights_after_training(world, gradient_accumulation_steps)
        | first_gradients(world, gradient_accumulation_steps)
        | evaluation(world)
    )
    return {name: tensor.contiguous() for name, tensor in results.items()}


def cut_anew(world: World, gradient_accumulation_steps: int) -> dict[str, torch.Tensor]:
    """With BPE-dropout: the ids of two epochs, and float64 weights after ten updates."""
    runtime = Runtime(precision="fp32", threads=1, settled=True, processes=world.size)
    setup = string_setup(
        task=syllable_task(),
        runtime=runtime,
        bpe_dropout=0.3,
        dropout=0.0,
        gradient_accumulation_steps=gradient_accumulation_steps,
        max_steps=STEPS,
    )
    setup.model.double()
    ids = [setup.corpus.pairs_of(epoch).sources for epoch in (0, 1)]
    trainer = Trainer(setup, world, None)
    while not trainer.done:
        trainer.update()
    weights = {f"bpe.weights.{name}": tensor.clone().contiguous() for name, tensor in setup.model.state_dict().items()}
    assert trainer.progress.epoch > 1
    return weights | {"bpe.ids": torch.tensor([i for epoch in ids for line in epoch for i in (-1, *line)])}


def cut_off(world: World, gradient_accumulation_steps: int) -> dict[str, torch.Tensor]:
    """With SimCut: float64 weights after ten updates, in which the same tokens are cut off."""
    runtime = Runtime(precision="fp32", threads=1, settled=True, processes=world.size)
    setup = string_setup(
        runtime=runtime,
        consistency="simcut",
        cutoff=0.3,
        dropout=0.0,
        gradient_accumulation_steps=gradient_accumulation_steps,
        max_steps=STEPS,
        max_tokens=40,
    )
    setup.model.double()
    trainer = Trainer(setup, world, None)
    while not trainer.done:
        trainer.update()
    return {f"simcut.weights.{name}": t.clone().contiguous() for name, t in setup.model.state_dict().items()}


def sums_after_resuming(world: World) -> dict[str, torch.Tensor]:
    """Sums of the training loss since the last log line: after three updates, and after a resumed run's next two."""
    trainer = trainer_for(world, torch.float64, 2 // world.size)
    for _ in range(3):
        trainer.update()
    trainer.save()
    tensors = {f"model.{name}": tensor for name, tensor in trainer.model.state_dict().items()}
    tensors |= optimizer_tensors(trainer.optimizer, trainer.model)
    resumed = trainer_for(world, torch.float64, 2 // world.size)
    resumed.restore(trainer.progress, tensors)
    for _ in range(2):
        resumed.update()
    saved = trainer.progress
    numbers = (saved.loss, saved.nll, saved.target_tokens, *resumed.sums_since_log())
    return {"sums": torch.tensor(numbers, dtype=torch.float64)}


def main(folder: Path) -> None:
    """Write this process's results into the folder."""
    torch.set_num_threads(1)
    scoring.SCORING_TOKENS = FEW_TOKENS
    with joined_world("cpu") as world:
        results = everything(world, gradient_accumulation_steps=2)
        results |= cut_anew(world, gradient_accumulation_steps=2)
        results |= cut_off(world, gradient_accumulation_steps=2)
        results |= sums_after_resuming(world)
        results["stop.questions"] = torch.tensor([questions_until_stopped(world, which) for which in STOPS])
        own = (
            {"shared.half": torch.arange(6).half().view(2, 3).T, "shared.empty": torch.zeros(0)}
            if world.is_main
            else {}
        )
        results |= world.share_tensors(own)
        safetensors.torch.save_file(results, folder / f"rank{world.rank}.safetensors")
