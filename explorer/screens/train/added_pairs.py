"""Further training pairs on the Train page: files from elsewhere, and pairs that trained models write."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from explorer.byte_cache import cached
from explorer.locale.text import plain, plural, why
from explorer.runs.made_pairs import MadePairs, Making
from explorer.runs.uploads import store
from explorer.screens.train.made_pairs import attempt, choose_writers
from explorer.screens.train.training_data import Data
from explorer.screens.train.upload import TABLES, upload_megabytes
from explorer.web.training_form import made_key, ticked_at_first
from model.config import DataConfig
from model.data import DataError
from model.data.files import read_pairs
from model.folder import modified

_HELP = (
    "Training reads these pairs as well as its own, but for those that are there already or whose source is held out."
)
_REMOVE = "Deletes the file. Models that were trained with it stay, but a stopped run can then no longer be resumed."


def choose_added(data: Data, made: MadePairs, device: str) -> tuple[str, ...]:
    """Draw the upload, the pairs made by models and how to make some; returns the paths of those to train on."""
    left, right = st.columns(2, gap="large")
    with right:
        choose_writers(data, made, device)
    with left:
        return _uploaded(data.data, made.checkpoints) + _made(data, made)


def _uploaded(data: DataConfig, checkpoints: Path) -> tuple[str, ...]:
    """The upload, and what each file brings."""
    files = st.file_uploader(
        "Further training pairs (TSV, CSV or JSONL)",
        type=list(TABLES),
        accept_multiple_files=True,
        max_upload_size=upload_megabytes(),
        key="train_added",
        help=_HELP,
    )
    paths = []
    for file in files:
        try:
            path = store(file, checkpoints)
            said = _overview(str(path), modified(path), data.src_lang, data.tgt_lang)
        except (DataError, OSError) as unusable:
            st.error(plain(why(unusable)))
            continue
        st.caption(plain(f"{file.name}: {said}"))
        paths.append(str(path))
    return tuple(paths)


def _made(data: Data, made: MadePairs) -> tuple[str, ...]:
    """The files that models have written for these data, each with a tick, what is in it, and a way to remove it."""
    paths = []
    for making in made.finished(data.task, data.arguments):
        try:
            said = _overview(str(making.path), making.made, data.data.src_lang, data.data.tgt_lang, "within")
        except (DataError, OSError) as unusable:
            st.error(plain(why(unusable)))
            _removal(made, making)
            continue
        tick, removal = st.columns([3, 1], vertical_alignment="center")
        with tick:
            chosen = st.checkbox(
                plain(making.name),
                value=ticked_at_first(making.made),
                key=made_key(making.name),
                persist_state="session",
                help="Ticked: the training reads these pairs, too.",
            )
        with removal:
            _removal(made, making)
        st.caption(plain(f"{said} Written by models: {making.origin()}."))
        if chosen:
            paths.append(str(making.path))
    return tuple(paths)


def _removal(made: MadePairs, making: Making) -> None:
    with st.popover("Remove", key=f"train_remove_{making.name}"):
        st.caption(plain(f"{making.name}: {_REMOVE}"))
        st.button(
            "Remove these pairs",
            key=f"train_remove_go_{making.name}",
            on_click=attempt,
            args=(made.remove, making.name),
        )


@cached
def _overview(path: str, changed: float, src_lang: str, tgt_lang: str, sample: str = "first") -> str:
    """How many pairs a file holds, one of them, and what was left out; read again if it has `changed`.

    `sample`: the "first", or one from "within": models begin with the shortest sentences.

    Raises:
        DataError: the file cannot be used.
    """
    pairs = read_pairs(Path(path), src_lang=src_lang, tgt_lang=tgt_lang)
    words, at = ("the first", 0) if sample == "first" else ("such as", len(pairs.examples) // 4)
    shown = pairs.examples[at]
    return (
        f"{plural(len(pairs.examples), 'pair')}, {words} “{shown.source}” → “{shown.target}”. "
        f"{pairs.skipped_sentence()}"
    ).strip()
