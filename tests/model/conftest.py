"""Fixtures of the tests that train: a folder with a trained model, and short held-out splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from model import data
from model.data.task import Splits, Task


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained model, `run`, which reverses strings of a–f (not well)."""
    from tests.model.engine import run, string_setup  # importing the trainer takes seconds, and few tests need it

    folder = tmp_path_factory.mktemp("checkpoints")
    assert run(folder, partial(string_setup, max_steps=30, d_model=32, dropout=0.0))
    return folder


@pytest.fixture(scope="module")
def few_sentences() -> Iterator[None]:
    """Tasks whose sentences are generated have 400 in the training split and 40 in each other split.

    After a few updates, a model decodes every test sentence to the length limit. Scoring dominates a short run, and
    encoding the training sentences comes next.
    """

    def shorter(make: Callable[[int], Task]) -> Callable[[int], Task]:
        def splits(whole: Task) -> Splits:
            return {name: kept[: 400 if name == "train" else 40] for name, kept in whole.splits.items()}

        @cache
        def made(split_seed: int) -> Task:
            whole = make(split_seed)
            return replace(whole, build=partial(splits, whole))

        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "_MADE", {name: shorter(make) for name, make in data._MADE.items()})
        yield
