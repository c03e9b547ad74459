"""Example sentences of a model: those of its task, or those that its training was validated on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.data import TASKS, get_task
from model.data.scenes import scenes
from model.data.task import IMPORTED, Prompt
from model.folder import METRICS

N_SCENES = 4
__all__ = ["Prompt", "examples_of", "hint_for", "word_for"]


def examples_of(summary: dict[str, Any]) -> tuple[Prompt, ...]:
    """Example sentences for a model, best first; none if nothing is known about its data."""
    task = str(summary.get("task"))
    if task in TASKS:
        prompts: tuple[Prompt, ...] = tuple(get_task(task).examples)
        if prompts:
            return prompts
    if task == IMPORTED:
        return _scenes(summary["data"].get("src_lang"))
    return tuple(Prompt(source, "From this model's validation data.") for source in _samples(Path(summary["folder"])))


def _scenes(lang: object) -> tuple[Prompt, ...]:
    """A few everyday descriptions for a translator from elsewhere, if it reads one of their languages."""
    if lang not in ("en", "de"):
        return ()
    everything = scenes()
    chosen = everything[:: len(everything) // N_SCENES][:N_SCENES]
    return tuple(Prompt(scene.english if lang == "en" else scene.german, "") for scene in chosen)


def hint_for(text: str, prompts: tuple[Prompt, ...]) -> str:
    """What to look for in `text`, as a sentence, if it is one of the examples; else an empty string."""
    hint = next((prompt.note for prompt in prompts if prompt.source == text), "")
    return f"What to look for: {hint}{'' if hint[-1] in '.?!' else '.'}" if hint else ""


def word_for(text: str, prompts: tuple[Prompt, ...]) -> str:
    """The predicted token at whose step `text` should open if it is one of the examples, else an empty string."""
    return next((prompt.word for prompt in prompts if prompt.source == text), "")


def _samples(folder: Path) -> list[str]:
    """Source sentences of the last evaluation in the metrics of the run."""
    path = folder / METRICS
    if not path.is_file():
        return []
    for line in reversed(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            samples = json.loads(line).get("samples") or []
        except (json.JSONDecodeError, AttributeError):
            continue  # the last line of a file that is being written, or was truncated, may be incomplete
        sources = [sample["source"] for sample in samples if isinstance(sample, dict) and "source" in sample]
        if sources:
            return [str(source) for source in sources]
    return []
