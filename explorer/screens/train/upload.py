"""The Train page's upload of a person's own sentence pairs, shown before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from explorer.byte_cache import cached
from explorer.runs.uploads import LANGUAGES, Uploaded, store
from explorer.text import plain, plural, why
from model.data import DataError
from model.data.files import Pairs, read_pairs, read_parallel
from model.data.tables import read_table

MAX_MEGABYTES = 100
TABLES = ("tsv", "tab", "csv", "jsonl", "ndjson")
SHOWN = 5


def choose_files(checkpoints: Path) -> tuple[tuple[str, ...], Pairs, str, str] | None:
    """Draw upload, columns and preview; returns the command's arguments, the pairs and both languages, once usable."""
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
        st.caption("Nothing leaves this machine. UTF-8 text; a small model can learn from a few hundred pairs.")
        return None
    languages = st.columns(2)
    chosen = [_language(column, side) for column, side in zip(languages, ("source", "target"), strict=True)]
    try:
        paths = [store(upload, checkpoints) for upload in uploads[:2]]
        arguments, pairs = _two(paths) if two else _one(paths[0])
    except (DataError, OSError) as unusable:
        st.error(plain(why(unusable)))
        return None
    st.dataframe(
        [{pairs.source_name: pair.source, pairs.target_name: pair.target} for pair in pairs.examples[:SHOWN]],
        hide_index=True,
    )
    st.caption(plain(f"The first of {plural(len(pairs.examples), 'pair')}. {pairs.skipped_sentence()}".strip()))
    return (*arguments, "--source-lang", chosen[0], "--target-lang", chosen[1]), pairs, chosen[0], chosen[1]


def _language(column: st.delta_generator.DeltaGenerator, side: str) -> str:
    code = column.selectbox(
        f"Language of the {side}",
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=f"train_lang_{side}",
        persist_state="session",
        help="It decides how text is split into words: an apostrophe often ends a word in French, but not in English.",
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


@cached
def _pairs(path: str, source: str | None, target: str | None) -> Pairs:
    return read_pairs(Path(path), source_column=source, target_column=target)


@cached
def _parallel(source: str, target: str) -> Pairs:
    return read_parallel(Path(source), Path(target))
