"""What each of two processes does in the test of DDP: `torchrun --nproc-per-node=2 …/two_processes.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import safetensors.torch
import torch

from model.training.device import Runtime
from model.training.distributed import World, joined_world
from model.training.evaluation import evaluate
from model.training.trainer import Trainer
from tests.model.engine import string_setup

STEPS = 10


def trainer_for(world: World, dtype: torch.dtype, accumulate: int) -> Trainer:
    """A trainer whose updates have the same examples however many processes share them."""
    runtime = Runtime(precision="fp32", threads=1, settled=True, processes=world.size)
    setup = string_setup(runtime=runtime, dropout=0.0, accumulate=accumulate, max_steps=STEPS, batch_tokens=40)
    setup.model.to(dtype)
    return Trainer(setup, world, None)


def weights_after_training(world: World, accumulate: int) -> dict[str, torch.Tensor]:
    """float64 weights after ten updates."""
    trainer = trainer_for(world, torch.float64, accumulate)
    while not trainer.done:
        trainer.update()
    return {f"weights.{name}": tensor.clone() for name, tensor in trainer.model.state_dict().items()}


def first_gradients(world: World, accumulate: int) -> dict[str, torch.Tensor]:
    """float32 gradients of the first update, before clipping."""
    trainer = trainer_for(world, torch.float32, accumulate)
    trainer.gradients(trainer.setup.corpus.updates(0)[0], 1)
    return {f"gradient.{name}": p.grad.clone() for name, p in trainer.model.named_parameters() if p.grad is not None}


def evaluation(world: World) -> dict[str, torch.Tensor]:
    """Sums over the validation set and what it was translated to."""
    setup = trainer_for(world, torch.float64, 1).setup
    scores = evaluate(setup.model, setup.target, setup.task, setup.valid, world, check=lambda: None)
    text = "\n".join(scores.predictions).encode()
    return {
        "eval.sums": torch.tensor(
            [scores.tokens.nll, scores.tokens.correct, scores.tokens.tokens], dtype=torch.float64
        ),
        "eval.text": torch.tensor(list(text), dtype=torch.uint8),
    }


def everything(world: World, accumulate: int) -> dict[str, torch.Tensor]:
    """All that must not depend on the number of processes."""
    results = weights_after_training(world, accumulate) | first_gradients(world, accumulate) | evaluation(world)
    return {name: tensor.contiguous() for name, tensor in results.items()}


def main() -> None:
    """Write this process's results into the folder."""
    torch.set_num_threads(1)
    with joined_world("cpu") as world:
        results = everything(world, accumulate=2)
        safetensors.torch.save_file(results, Path(sys.argv[1]) / f"rank{world.rank}.safetensors")


if __name__ == "__main__":
    main()
