"""In what the settings of several runs differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.runs.settings import label_of
from model.config import with_current_names
from model.folder import CheckpointError, read_config

_SECTIONS = ("data", "model", "training", "runtime")
_NOT_CHOSEN = ("src_vocab_size", "tgt_vocab_size", "settled", "fused")


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of a run by name, and on what it was computed; empty where its config.json cannot be read."""
    try:
        config = read_config(folder)
    except CheckpointError:
        return {}
    sections = [config.get(name) for name in _SECTIONS]
    found: dict[str, Any] = {}
    for section in sections:
        found |= with_current_names(section) if isinstance(section, dict) else {}
    return {name: value for name, value in found.items() if name not in _NOT_CHOSEN}


def differences(runs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """A row for each setting that is not the same in all runs: its label, and its value in each."""
    names = dict.fromkeys(name for settings in runs.values() for name in settings)
    rows = []
    for name in names:
        values = {run: _text(settings.get(name)) for run, settings in runs.items()}
        if len(set(values.values())) > 1:
            rows.append({"setting": label_of(name), **values})
    return rows


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return (
        ("yes" if value else "no")
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
