"""In what several runs differ: their settings, what they learned from, and what they began with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.locale.text import plural
from explorer.runs.settings import label_of
from model.config import with_current_names
from model.data.files import DATA_FILE
from model.folder import CheckpointError, read_config

_SECTIONS = ("data", "model", "training", "runtime")
_FILES = ("--data", "--source", "--target", "--valid-data")
_NOT_CHOSEN = ("src_vocab_size", "tgt_vocab_size", "settled", "fused")


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of a run by name, on what it was computed, and its origin; empty without a readable config.json."""
    try:
        config = read_config(folder)
    except CheckpointError:
        return {}
    sections = [config.get(name) for name in _SECTIONS]
    found: dict[str, Any] = {}
    for section in sections:
        found |= with_current_names(section) if isinstance(section, dict) else {}
    if found.get("tokenizer") != "subwords":
        found.pop("vocab_size", None)
    found |= _origin(config, folder)
    return {name: value for name, value in found.items() if name not in _NOT_CHOSEN}


def _origin(config: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """What the run began with and learned from beside its task, in words; nothing of what it does not have.

    The folder may be somebody else's: an entry of another kind than is written there counts as absent.
    """
    first = config.get("first")
    own, extended, added = (
        value if isinstance(value := config.get(name), list) else [] for name in ("own_data", "extended", "added_data")
    )
    found = {
        "starts_from": str(config.get("init") or ""),
        "first_part": ", ".join(f"{key}={value}" for key, value in first.items()) if isinstance(first, dict) else "",
        "own_pairs": _own_pairs(list(map(str, own)), folder / DATA_FILE),
        "further_pairs": ", ".join(_added(each) for each in added if isinstance(each, dict)),
        "trained_longer": ", ".join(f"to {plural(steps, 'update')}" for steps in extended if isinstance(steps, int)),
    }
    return {name: value for name, value in found.items() if value}


def _own_pairs(words: Sequence[str], stored: Path) -> str:
    """The files that a run's own pairs came from, and a check sum of the pairs: files of one name may differ."""
    if not words:
        return ""
    files = [value for option, value in zip(words[::2], words[1::2], strict=False) if option in _FILES]
    try:
        content = stored.read_bytes()
    except OSError:
        return ", ".join(files)
    pairs = plural(content.count(b"\n"), "pair")
    return f"{', '.join(files)} ({pairs}, {_sum(hashlib.sha256(content).hexdigest())})"


def _added(entry: Mapping[str, Any]) -> str:
    pairs, digest = entry.get("pairs"), str(entry.get("sha256"))
    return f"{entry.get('file')} ({plural(pairs, 'pair') if isinstance(pairs, int) else '? pairs'}, {_sum(digest)})"


def _sum(digest: str) -> str:
    return f"check sum {digest[:8]}"


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
