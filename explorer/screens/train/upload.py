"""Sentence pairs that a person brings to the Train page: kept as files, read, and shown before anything is trained."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import streamlit as st

from explorer.runs.viewer_mode import refuse
from explorer.text import plain, why
from model.data import DataError
from model.data.files import Pairs, read_pairs, read_parallel
from model.data.tables import read_table
from model.folder import write_bytes

UPLOADS = ".uploads"  # inside the checkpoints folder; a run keeps a copy of its own, so old ones may go
KEPT_SECONDS = 7 * 86_400
MAX_MEGABYTES = 100
TABLES = ("tsv", "tab", "csv", "jsonl", "ndjson")
SHOWN = 5
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


def keep(file: Uploaded, checkpoints: Path) -> Path:
    """Write an uploaded file where a training process can read it; the same content is kept once.

    Raises:
        ViewerError: this server is for looking only.
    """
    refuse("Uploads are")
    content = file.getvalue()
    folder = checkpoints / UPLOADS / hashlib.sha256(content).hexdigest()[:16]
    path = folder / _safe(file.name)
    if not path.is_file():
        _forget_old(checkpoints / UPLOADS)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)  # all of it or nothing: what is there already is taken as it is
    return path


def _safe(name: str) -> str:
    """A file name that any system takes and no shell trips over."""
    base = Path(name.replace("\\", "/")).name
    stem, suffix = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip(".-") for part in os.path.splitext(base))
    return (stem[-60:].lstrip(".-") or "data") + f".{suffix[:10] or 'txt'}"


def _forget_old(folder: Path) -> None:
    now = time.time()
    for old in folder.glob("*"):
        if now - old.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)


def choose_files(checkpoints: Path) -> tuple[tuple[str, ...], Pairs, str, str] | None:
    """Draw upload, columns and preview; returns the command's words, the pairs and both languages, once they fit."""
    shape = st.segmented_control(
        "Shape",
        ["one table", "two text files"],
        default="one table",
        required=True,
        key="train_shape",
        label_visibility="collapsed",
    )
    two = shape == "two text files"
    files = st.file_uploader(
        "Two text files, line by line: the source first" if two else "A TSV, CSV or JSONL file with a pair in each row",
        type=None if two else list(TABLES),
        accept_multiple_files=two,
        max_upload_size=MAX_MEGABYTES,
        key="train_files_two" if two else "train_files_one",
    )
    uploads: Sequence[Uploaded] = [file for file in (files if isinstance(files, list) else [files]) if file is not None]
    if len(uploads) < (2 if two else 1):
        st.caption("Nothing leaves this machine. UTF-8 text; a few hundred pairs teach a small model something.")
        return None
    languages = st.columns(2)
    chosen = [_language(column, side) for column, side in zip(languages, ("source", "target"), strict=True)]
    try:
        paths = [keep(upload, checkpoints) for upload in uploads[:2]]
        words, pairs = _two(paths) if two else _one(paths[0])
    except (DataError, OSError) as unfit:
        st.error(plain(why(unfit)))
        return None
    st.dataframe(
        [{pairs.source_name: pair.source, pairs.target_name: pair.target} for pair in pairs.examples[:SHOWN]],
        hide_index=True,
    )
    st.caption(plain(f"The first of {len(pairs.examples):,} pairs. {pairs.skipped_sentence()}".strip()))
    return (*words, "--source-lang", chosen[0], "--target-lang", chosen[1]), pairs, chosen[0], chosen[1]


def _language(column: st.delta_generator.DeltaGenerator, side: str) -> str:
    code = column.selectbox(
        f"Language of the {side}",
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=f"train_lang_{side}",
        persist_state="session",
        help="How words are told apart: an apostrophe is no word's end in English, but often is in French.",
    )
    return code or "xx"


def _one(path: Path) -> tuple[tuple[str, ...], Pairs]:
    columns = _columns(str(path))
    first = _pairs(str(path), None, None)
    if len(columns) == 2:
        wanted = (first.source_name, first.target_name)
    else:
        parts = st.columns(2)
        wanted = (
            parts[0].selectbox(
                "Source column", columns, index=columns.index(first.source_name), key="train_col_source"
            ),
            parts[1].selectbox(
                "Target column", columns, index=columns.index(first.target_name), key="train_col_target"
            ),
        )
    pairs = _pairs(str(path), *wanted)
    return ("--data", str(path), "--source-column", wanted[0], "--target-column", wanted[1]), pairs


def _two(paths: Sequence[Path]) -> tuple[tuple[str, ...], Pairs]:
    return ("--source", str(paths[0]), "--target", str(paths[1])), _parallel(str(paths[0]), str(paths[1]))


@st.cache_resource(max_entries=8, show_spinner=False)
def _columns(path: str) -> tuple[str, ...]:
    return read_table(Path(path)).columns


@st.cache_resource(max_entries=8, show_spinner="Reading the file …")
def _pairs(path: str, source: str | None, target: str | None) -> Pairs:
    return read_pairs(Path(path), source_column=source, target_column=target)


@st.cache_resource(max_entries=8, show_spinner="Reading the files …")
def _parallel(source: str, target: str) -> Pairs:
    return read_parallel(Path(source), Path(target))
