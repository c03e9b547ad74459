"""All answers to the validation sentences of a run that are not exactly right, by the weights in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.locale.text import percent, plural
from explorer.probing.reporting import Report
from model.checkpoint import LoadedModel
from model.config import DecodeConfig
from model.data import TASKS, get_task
from model.data.batching import encode_pairs
from model.data.task import DataError, Task
from model.scoring import evenly_spaced, translate_pairs

MOST = 2000  # sentences that are translated
_PART = 64  # sentences between two reports
_FILES = "files"


@dataclass(frozen=True)
class WrongAnswers:
    """The wrong answers by columns, in the order of the validation sentences, and how many they are in a sentence."""

    columns: dict[str, list[str]]
    caption: str


def validation_task(loaded: LoadedModel, folder: Path) -> Task:
    """The task of a model, with its validation sentences; nothing is downloaded.

    Raises:
        DataError: the task is unknown here, or its sentences are not on this machine.
    """
    data = loaded.data_config
    if data.task not in TASKS and data.task != _FILES:
        raise DataError("This model was not trained here, so there are no validation sentences.")
    task = get_task(data.task, split_seed=data.split_seed, data_dir=folder if data.task == _FILES else None)
    if not task.split("valid"):
        raise DataError("The validation sentences of this model are not on this machine.")
    return task


def wrong_answers(loaded: LoadedModel, task: Task, report: Report) -> WrongAnswers:
    """Translate the validation sentences greedily, and keep the answers that are wrong."""
    every = task.splits["valid"]
    examples = [every[i] for i in evenly_spaced(len(every), MOST)]
    limit = loaded.model_config.max_positions - 1
    columns: dict[str, list[str]] = {"source": [], "right answer": [], "model's answer": []}
    asked = 0
    for at in range(0, len(examples), _PART):
        report(at / len(examples), f"Translating: {at:,} of {plural(len(examples), 'validation sentence')}")
        part = examples[at : at + _PART]
        pairs = encode_pairs(part, loaded.source, loaded.target)
        fitting = [i for i, ids in enumerate(pairs.sources) if 0 < len(ids) <= limit]
        part = [part[i] for i in fitting]
        if not part:
            continue
        pairs = encode_pairs(part, loaded.source, loaded.target)
        asked += len(part)
        for example, said in zip(
            part, translate_pairs(loaded.model, pairs, loaded.target, DecodeConfig()), strict=True
        ):
            if not task.equivalent(said, example):
                for column, text in zip(columns.values(), (example.source, example.target, said), strict=True):
                    column.append(text)
    return WrongAnswers(columns, _caption(len(columns["source"]), asked, len(examples), len(every)))


def _caption(wrong: int, asked: int, chosen: int, of: int) -> str:
    """How many are wrong of those asked; `chosen` are those that would be asked if all fitted the model."""
    part = f" of {of:,}, evenly chosen," if chosen < of else ""
    share = f" ({percent(wrong / asked, 1)})" if asked else ""
    unfit = f" Left out as empty or too long for the model: {chosen - asked:,}." * (asked < chosen)
    return (
        f"{wrong:,} of {plural(asked, 'validation answer')}{part} {'is' if wrong == 1 else 'are'} not exactly the "
        f"right one{share}: greedy search, with the weights in the folder.{unfit}"
    )
