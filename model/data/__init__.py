"""Tasks by name, each with the sentence pairs that a model is trained and tested on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from model.data.adjective_swap import adjective_swap
from model.data.dates import dates
from model.data.files import files_task
from model.data.letters import LETTER_TASKS, letters
from model.data.multi30k import MULTI30K_TASKS
from model.data.number_words import number_words_task
from model.data.phrases import PHRASE_TASKS, phrases
from model.data.task import DataError, Example, Prompt, Splits, Task
from model.nearest import nearest

__all__ = ["MADE_HERE", "TASKS", "DataError", "Example", "Prompt", "Splits", "Task", "get_task"]

_GENERATED: Mapping[str, Callable[[int], Task]] = {
    "adjective-swap": adjective_swap,
    **{name: partial(letters, name) for name in LETTER_TASKS},
    "dates": dates,
    "number-words": number_words_task,
    **{name: partial(phrases, name) for name in PHRASE_TASKS},
}
MADE_HERE = tuple(_GENERATED)  # these tasks need no file and no network
TASKS = (*MADE_HERE, *MULTI30K_TASKS)


def get_task(name: str, *, split_seed: int = 0, data_dir: Path | None = None, fetch: bool = False) -> Task:
    """The task of this name; its examples are generated, read or downloaded on the first access to `splits`.

    `data_dir` is the folder of a corpus. Without it, a corpus is read from the folder named in HEADLIGHT_DATA or from
    the user's cache folder, into which it is downloaded only if `fetch` allows it. For the task ``files`` (your own
    data), `data_dir` is the folder of the run that stores them.

    Raises:
        DataError: there is no such task; the message names the nearest.
    """
    if name in _GENERATED:
        return _GENERATED[name](split_seed)
    if name in MULTI30K_TASKS:
        return MULTI30K_TASKS[name](split_seed=split_seed, data_dir=data_dir, fetch=fetch)
    if name == "files":
        return files_task(folder=data_dir)
    raise DataError("there is no task '{name}'. {nearest}", name=name, nearest=nearest(name, (*TASKS, "files")))
