"""Store uploaded training data where a training process can read them, under safe names."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Sequence, Set
from pathlib import Path

from explorer.locale.messages import message
from explorer.runs.process import launches
from explorer.runs.viewer_mode import refuse
from model.folder import STATUS, CheckpointError, modified, read_json, write_bytes

UPLOADS = ".uploads"  # inside the checkpoints folder; a run has its own copy of its pairs, but not of added ones
MAX_AGE_SECONDS = 7 * 86_400
LANGUAGES = {
    "xx": message("no particular language"),
    "en": message("English"),
    "de": message("German"),
    "fr": message("French"),
    "es": message("Spanish"),
    "it": message("Italian"),
    "pt": message("Portuguese"),
    "nl": message("Dutch"),
    "hi": message("Hindi"),
}


def store(name: str, content: bytes, checkpoints: Path) -> Path:
    """Write an uploaded file, called `name`, where a training process can read it; equal content is stored once.

    Raises:
        ViewerError: this server is read-only.
    """
    refuse(message("Uploads are switched off: this server is for looking only."))
    folder = checkpoints / UPLOADS / hashlib.sha256(content).hexdigest()[:16]
    path = folder / _safe_name(name)
    if not path.is_file():
        _delete_old(checkpoints)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)  # atomic: a file that exists is complete
    else:
        os.utime(folder)  # counts as new, so that it is not deleted
    return path


def discard(words: Sequence[str], checkpoints: Path) -> None:
    """Delete the uploads among the arguments of a deleted run, unless another run was started with them."""
    for folder in uploaded(words, checkpoints):
        if not users_of({folder}, checkpoints):
            shutil.rmtree(checkpoints / UPLOADS / folder, ignore_errors=True)


def uploaded(words: Sequence[str], checkpoints: Path) -> set[str]:
    """The folders of the uploads among the arguments of a run."""
    return {Path(word).parent.name for word in words if Path(word).parent.parent == checkpoints / UPLOADS}


def users_of(folders: Set[str], checkpoints: Path) -> set[str]:
    """The runs that were started with uploads in these folders, or use them as further pairs."""
    users = {launch.name for launch in launches(checkpoints) if uploaded(launch.words, checkpoints) & folders}
    return users | {run for run, used in _added(checkpoints).items() if used & folders}


def _safe_name(name: str) -> str:
    """Make a file name that is valid on every system and needs no quoting in a shell."""
    base = Path(name.replace("\\", "/")).name
    stem, suffix = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip(".-") for part in os.path.splitext(base))
    return (stem[-60:].lstrip(".-") or "data") + f".{suffix[:10] or 'txt'}"


def _delete_old(checkpoints: Path) -> None:
    """Delete old uploads, except those that runs use as further pairs: a resumed run reads its file again."""
    now, needed = time.time(), set[str]().union(*_added(checkpoints).values())
    for old in (checkpoints / UPLOADS).glob("*"):
        if now - modified(old) > MAX_AGE_SECONDS and old.name not in needed:
            shutil.rmtree(old, ignore_errors=True)


def _added(checkpoints: Path) -> dict[str, set[str]]:
    """Folders of uploads that runs use as further pairs, by run."""
    folders = {}
    for status in checkpoints.glob(f"*/{STATUS}"):
        try:
            paths = read_json(status).get("added_data")
        except CheckpointError:
            continue  # a damaged run cannot be resumed
        named = paths if isinstance(paths, list) else []
        folders[status.parent.name] = {Path(path).parent.name for path in named if isinstance(path, str)}
    return folders
