"""The models in the checkpoints folder as the pages list them, kept current at the price of a few file stamps.

A page of a class that steps together asks for the list many times a second, and reading all folders takes longer than
a translation. A folder is therefore read again only when one of its files has changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from explorer.decoding.model_summary import facts, story, title
from model import faults
from model.folder import SNAPSHOTS, STATE, UNFORESEEN, model_folders, summarize

Summary = dict[str, Any]
Stamp = tuple[tuple[str | int, ...], ...]

_known: dict[Path, tuple[Stamp, Summary]] = {}  # healthy ones only: what was wrong with a folder may lie outside it


def summaries(checkpoints: str | Path) -> list[Summary]:
    """A summary of every model folder (see :func:`model.folder.summarize`), by name, broken ones included."""
    folders = model_folders(checkpoints)
    found = [_summary(folder) for folder in folders]
    for gone in [known for known in tuple(_known) if known.parent == Path(checkpoints) and known not in folders]:
        _known.pop(gone, None)
    return found


def _summary(folder: Path) -> Summary:
    before = stamp(folder)
    stamped, known = _known.get(folder, (None, None))
    if known is not None and before == stamped:
        return known
    summary = _as_listed(summarize(folder))
    if before is not None and summary["error"] is None:
        _known[folder] = before, summary
    return summary


def stamp(folder: Path) -> Stamp | None:
    """A value that differs once a file of the folder is written, replaced, added or removed; None if there is none."""
    try:
        places = (folder, folder / STATE, folder / SNAPSHOTS)
        return tuple(entry for place in places if place is places[0] or place.is_dir() for entry in _entries(place))
    except OSError:  # it vanishes meanwhile
        return None


def _entries(place: Path) -> list[tuple[str | int, ...]]:
    with os.scandir(place) as entries:
        stats = [(entry.name, entry.stat()) for entry in entries]
    stats += [(os.curdir, os.stat(place))]
    return sorted((name, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns) for name, at in stats)


def _as_listed(summary: Summary) -> Summary:
    """A summary whose lines in the sidebar can be written; one that cannot is an error of its own model only."""
    try:
        if summary["error"] is None:
            title(summary), story(summary), facts(summary)
    except Exception as fault:
        faults.report(fault)
        return summary | {"error": UNFORESEEN}
    return summary
