"""What several tests of the commands share."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.model.engine import run, string_setup


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained model, `run`, which reverses strings of a–f (not well)."""
    folder = tmp_path_factory.mktemp("checkpoints")
    assert run(folder, partial(string_setup, max_steps=30, d_model=32, dropout=0.0))
    return folder
