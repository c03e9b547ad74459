"""What a person wrote down about a run or model: a short text in its folder, which exports take along."""

from __future__ import annotations

from pathlib import Path

from model.file_formats import NOTE_CHARACTERS, FormatError, Note, check
from model.folder import NOTE, CheckpointError, checked, read_json, write_json


def read_note(folder: Path) -> str:
    """The note in a folder; empty where there is none.

    Raises:
        CheckpointError: note.json is damaged, or holds what a note must not.
    """
    path = folder / NOTE
    return str(checked(path, read_json(path), Note)["text"]) if path.is_file() else ""


def write_note(folder: Path, text: str) -> None:
    """Store a note; an empty one takes the file away.

    Raises:
        CheckpointError: it is too long, or has control characters in it.
    """
    text = text.strip()
    if not text:
        (folder / NOTE).unlink(missing_ok=True)
        return
    try:
        check({"text": text}, Note)
    except FormatError:
        raise CheckpointError(
            f"A note has at most {NOTE_CHARACTERS:,} characters, none of which controls or reorders the text."
        ) from None
    write_json(folder / NOTE, {"text": text})
