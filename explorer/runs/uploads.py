"""Files that a person uploads as training data: stored where a training process can read them, under safe names."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from pathlib import Path
from typing import Protocol

from explorer.runs.viewer_mode import refuse
from model.folder import modified, write_bytes

UPLOADS = ".uploads"  # inside the checkpoints folder; a run has its own copy, so old uploads can be deleted
KEPT_SECONDS = 7 * 86_400
LANGUAGES = {
    "xx": "no particular language",
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "hi": "Hindi",
}


class Uploaded(Protocol):
    """A file that the browser sent: its name there, and its content."""

    name: str

    def getvalue(self) -> bytes:
        """The whole content."""


def store(file: Uploaded, checkpoints: Path) -> Path:
    """Write an uploaded file where a training process can read it; equal content is stored once.

    Raises:
        ViewerError: this server is for looking only.
    """
    refuse("Uploads are")
    content = file.getvalue()
    folder = checkpoints / UPLOADS / hashlib.sha256(content).hexdigest()[:16]
    path = folder / _safe_name(file.name)
    if not path.is_file():
        _delete_old(checkpoints / UPLOADS)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)  # atomic: a file that exists is complete
    return path


def _safe_name(name: str) -> str:
    """A file name that is valid on every system and needs no quoting in a shell."""
    base = Path(name.replace("\\", "/")).name
    stem, suffix = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip(".-") for part in os.path.splitext(base))
    return (stem[-60:].lstrip(".-") or "data") + f".{suffix[:10] or 'txt'}"


def _delete_old(folder: Path) -> None:
    now = time.time()
    for old in folder.glob("*"):
        if now - modified(old) > KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
