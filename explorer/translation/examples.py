"""Sentences worth opening with a model: its task's own, or what it was tested on while it was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.data import TASKS, get_task
from model.data.task import Prompt
from model.folder import METRICS

__all__ = ["Prompt", "examples_of", "note_for"]


def examples_of(summary: dict[str, Any]) -> tuple[Prompt, ...]:
    """Good sentences for a model, best first; none where nothing is known about its data."""
    task = str(summary.get("task"))
    if task in TASKS:
        prompts: tuple[Prompt, ...] = tuple(get_task(task).examples)
        if prompts:
            return prompts
    return tuple(Prompt(source, "From this model's validation data.") for source in _samples(Path(summary["folder"])))


def note_for(text: str, prompts: tuple[Prompt, ...]) -> str:
    """What to look for in `text`, if it is one of the examples."""
    return next((prompt.note for prompt in prompts if prompt.source == text), "")


def _samples(folder: Path) -> list[str]:
    """Source sentences of the last evaluation that the run wrote down."""
    path = folder / METRICS
    if not path.is_file():
        return []
    for line in reversed(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            samples = json.loads(line).get("samples") or []
        except (json.JSONDecodeError, AttributeError):
            continue  # a run that is being written, or was cut off, ends in half a line
        found = [sample["source"] for sample in samples if isinstance(sample, dict) and "source" in sample]
        if found:
            return [str(source) for source in found]
    return []
