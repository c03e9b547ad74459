"""Where a person's own pairs come from on the Train page: pasted, one table, or two text files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from explorer.locale.text import plain, why
from explorer.runs.uploads import Uploaded, store
from explorer.web.downloads import download_button
from explorer.web.upload_limit import megabytes
from model.data import DataError
from model.data.number_words import FILE_NAME, sample_file
from model.data.pasted import pasted_table
from model.data.tables import MAX_BYTES

TABLES = ("tsv", "tab", "csv", "jsonl", "ndjson")
TABLE, TWO = "one table", "two text files"
MAX_PASTED = 1_000_000  # characters: more is a file
_PASTED = "train_pasted"
_PRIVATE = "Nothing leaves this machine. UTF-8 text; a small model can learn from a few hundred pairs."


@dataclass
class _Text:
    """Pasted text in the shape of an uploaded file."""

    name: str
    text: str

    def getvalue(self) -> bytes:
        return self.text.encode("utf-8", errors="replace")


def upload_megabytes() -> int:
    """The largest file of pairs that can be uploaded here."""
    return megabytes(MAX_BYTES // 2**20)


def choose_files(checkpoints: Path) -> tuple[Path, ...]:
    """Draw the choice; one path of a table or two of parallel texts, once there are some that can be stored."""
    shape = st.segmented_control(
        "Where the pairs come from",
        [TABLE, TWO],
        default=TABLE,
        required=True,
        key="train_shape",
        format_func=lambda shape: "paste, or one table" if shape == TABLE else shape,
        label_visibility="collapsed",
    )
    uploads = _two_files() if shape == TWO else _one_table()
    try:
        return tuple(store(upload, checkpoints) for upload in uploads)
    except OSError as unusable:
        st.error(plain(why(unusable)))
        return ()


def _one_table() -> Sequence[Uploaded]:
    """Draw the file and the box to paste into; a file, as long as there is one, comes first."""
    file = st.file_uploader(
        "A TSV, CSV or JSONL file with a pair in each row",
        type=list(TABLES),
        max_upload_size=upload_megabytes(),
        key="train_files_one",
        label_visibility="collapsed",
    )
    if file is not None:
        return (file,)
    text = st.text_area(
        "Or paste pairs, one on each line",
        key=_PASTED,
        persist_state="session",
        height=90,
        max_chars=MAX_PASTED,
        placeholder="twenty one -> 21\nforty -> 40",
        help="First the source, then a tab, a comma or an arrow, then the target. Two columns copied from a "
        "spreadsheet are separated by a tab.",
    )
    if not (text or "").strip():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Fill in a sample", on_click=_fill_in_sample)
            download_button("Sample file", sample_file, FILE_NAME, "text/tab-separated-values", key="train_sample")
        st.caption(_PRIVATE)
        return ()
    try:
        pasted = pasted_table(text)
    except DataError as unusable:
        st.error(plain(str(unusable)))
        return ()
    return (_Text(f"pasted{pasted.ending}", pasted.text),)


def _fill_in_sample() -> None:
    st.session_state[_PASTED] = sample_file().rstrip("\n")


def _two_files() -> Sequence[Uploaded]:
    files = st.file_uploader(
        "Two text files, line by line: the source first",
        accept_multiple_files=True,
        max_upload_size=upload_megabytes(),
        key="train_files_two",
    )
    if len(files) < 2:
        st.caption(_PRIVATE)
        return ()
    return files[:2]
