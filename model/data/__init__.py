"""Tasks by name: what a model can be trained and tested on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from model.config import nearest
from model.data.adjective_swap import adjective_swap
from model.data.dates import dates
from model.data.letters import LETTER_TASKS, letters
from model.data.phrases import phrases_en_de, phrases_en_fr, phrases_en_hi
from model.data.task import DataError, Example, Prompt, Splits, Task

__all__ = ["TASKS", "DataError", "Example", "Prompt", "Splits", "Task", "get_task"]

# Tasks whose sentences are made here, each a function of the split seed.
TASKS: Mapping[str, Callable[[int], Task]] = {
    "adjective-swap": adjective_swap,
    **{name: partial(letters, name) for name in LETTER_TASKS},
    "dates": dates,
    "phrases-en-de": phrases_en_de,
    "phrases-en-fr": phrases_en_fr,
    "phrases-en-hi": phrases_en_hi,
}


def get_task(name: str, *, split_seed: int = 0, data_dir: Path | None = None) -> Task:
    """The task of this name; its examples are made or read when `splits` is first asked for.

    Raises:
        DataError: there is no such task; the message names the nearest.
    """
    if name not in TASKS:
        raise DataError(f"there is no task '{name}'{nearest(name, TASKS)}")
    return TASKS[name](split_seed)
