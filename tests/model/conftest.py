"""Fixtures of several files: a folder with a trained model, and computation without gradients."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained model, `run`, which reverses strings of a–f (not well)."""
    from tests.model.engine import run, string_setup  # importing the trainer takes seconds, and few tests need it

    folder = tmp_path_factory.mktemp("checkpoints")
    assert run(folder, partial(string_setup, max_steps=30, d_model=32, dropout=0.0))
    return folder


@pytest.fixture
def no_gradients() -> Iterator[None]:
    import torch

    with torch.inference_mode():
        yield
