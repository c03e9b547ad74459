"""Which trained models can write further pairs for a task's data, and what to train where there are none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from explorer.runs.uploads import LANGUAGES
from model.config import DataConfig
from model.data import TASKS, get_task
from model.data.added import direction, fits

FILES = "files"
SELF_REVERSE = ("copy", "reverse")
"""Tasks whose answer, given as the input, leads back to the input: a model of them is its own reverse direction."""


@dataclass(frozen=True)
class Writers:
    """The models that can write one side of a task's pairs, those of the same task first.

    `proposed` is the one to begin with, or empty; `missing` says what to train if there is none.
    """

    names: tuple[str, ...]
    proposed: str
    missing: str


def writers(summaries: Iterable[Mapping[str, Any]], data: DataConfig, side: str, busy: Collection[str] = ()) -> Writers:
    """The models that write the `side` ("target" or "source") of these data.

    `summaries` as model.folder.summarize makes them; `busy` are the names of models that are being trained.
    """
    found = [
        (not _same(summary, data, side), str(summary["name"]), _same(summary, data, side) or _certain(data))
        for summary in summaries
        if summary["name"] not in busy and _writes(summary) and _suits(summary, data, side)
    ]
    found.sort()
    names = tuple(name for _, name, _ in found)
    proposed = found[0][1] if found and found[0][2] else ""
    return Writers(names, proposed, "" if names else _missing(data, side))


def _writes(summary: Mapping[str, Any]) -> bool:
    """Whether it was trained, and can write word by word: without the causal mask, a model has seen what comes next."""
    return bool(summary.get("trained")) and summary["model"].get("causal") is not False


def _suits(summary: Mapping[str, Any], data: DataConfig, side: str) -> bool:
    """Whether its languages fit, and its task, where languages do not tell one task from another.

    `model.relabel` checks the languages only: dates and number words are both English to English.
    """
    of = summary["data"]
    if not fits((str(of.get("src_lang")), str(of.get("tgt_lang"))), direction(data, side)):
        return False
    return _by_languages(data) or of.get("task") == FILES or _same(summary, data, side)


def _by_languages(data: DataConfig) -> bool:
    return data.task == FILES or data.src_lang != data.tgt_lang


def _certain(data: DataConfig) -> bool:
    """Whether a fitting model surely translates these sentences, so that it may be proposed."""
    return data.task != FILES and data.src_lang != data.tgt_lang


def _same(summary: Mapping[str, Any], data: DataConfig, side: str) -> bool:
    """Whether it was trained on this very task, in the direction that writes this side."""
    own = summary["data"].get("task") == data.task and data.task != FILES
    return own and (side == "target" or data.task in SELF_REVERSE)


def _missing(data: DataConfig, side: str) -> str:
    """What is missing and how to get it, in two sentences."""
    source, target = direction(data, side)
    if side == "target":
        advice = "Train a model on these data first; it can then translate their sources."
        return f"No trained model here {_translates(source, target, 'turns these sources into targets')}. {advice}"
    reversed_tasks = [
        name for name in TASKS if source != target and _languages(name) == (source, target) and name != data.task
    ]
    of = f"on the data '{reversed_tasks[0]}'" if reversed_tasks else "on the same pairs with their columns exchanged"
    lacking = _translates(source, target, "turns these targets back into sources")
    return f"No trained model here {lacking}. Train a model of the reverse direction first, for example {of}."


def _languages(task: str) -> tuple[str, str]:
    data = get_task(task).data
    return data.src_lang, data.tgt_lang


def _translates(source: str, target: str, otherwise: str) -> str:
    known = source != target and "xx" not in (source, target)
    return f"translates {LANGUAGES.get(source, source)} to {LANGUAGES.get(target, target)}" if known else otherwise
