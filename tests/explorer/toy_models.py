"""Small untrained model folders for tests of the app: real tokenizers, real files, no training."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from model.architectures import make_model, make_transformer
from model.checkpoint import save_model
from model.config import ModelConfig, TrainConfig
from model.data import get_task
from model.text.tokenizer_kinds import build_tokenizers
from model.transformer import Transformer

_task = cache(get_task)  # generating its sentences takes longer than everything else


def save_toy(folder: Path, task_name: str, *, seed: int = 0, **sizes: Any) -> None:
    """Write an untrained model for one of the built-in tasks; depths and head counts differ between the stacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _files(task_name, seed, **sizes).items():
        (folder / name).write_bytes(content)


@cache
def _files(task_name: str, seed: int, **sizes: Any) -> dict[str, bytes]:
    task = _task(task_name)
    train = task.splits["train"][:200]
    source, target = build_tokenizers(task.data, [e.source for e in train], [e.target for e in train])
    settings: dict[str, Any] = {
        "d_model": 16,
        "d_ff": 16,
        "n_encoder_layers": 1,
        "n_decoder_layers": 2,
        "n_encoder_heads": 2,
        "n_decoder_heads": 4,
        "max_positions": 48,
    } | sizes
    config = ModelConfig(src_vocab_size=len(source), tgt_vocab_size=len(target), **settings)
    with TemporaryDirectory() as place, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        folder = Path(place) / "toy"
        save_model(folder, make_model(config), source, target, data=task.data, training=TrainConfig(), card="# Toy\n")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def untrained(config: ModelConfig, seed: int) -> Transformer:
    """A model whose biases, gates and norms are as a trained model has them, and not 0 or 1."""
    model, generator = make_transformer(config), torch.Generator().manual_seed(seed)
    model.reset_parameters(generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
    return model.eval()
