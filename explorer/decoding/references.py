"""The right translation of a sentence, where it is known: from those data of the model's task that are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from model.data import TASKS, get_task
from model.data.task import DataError

FILES = "files"  # the task of a person's own data, which their run keeps


def references(summary: Mapping[str, Any]) -> dict[str, str]:
    """Each known source of a model's task with its target; empty where no data are at hand. Nothing is downloaded."""
    task = str(summary.get("task"))
    if task not in TASKS and task != FILES:
        return {}
    known: dict[str, str] = {}
    with suppress(DataError):  # a corpus that is not here: what came with Headlight is known all the same
        made = get_task(task, data_dir=Path(summary["folder"]) if task == FILES else None)
        for split in made.own_splits:
            known |= {example.source: example.target for example in made.split(split) or ()}
        for examples in made.splits.values():
            known |= {example.source: example.target for example in examples}
    return known


def reference(text: str, known: Mapping[str, str]) -> str:
    """The target of this source, "" where it is not known; the case of letters does not matter."""
    text = text.strip()
    if text in known:
        return known[text]
    return next((target for source, target in known.items() if source.casefold() == text.casefold()), "")
