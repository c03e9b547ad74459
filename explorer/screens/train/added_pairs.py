"""Further training pairs on the Train page, such as those of data diversification."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from explorer.runs.command import quoted_command
from explorer.runs.uploads import store
from explorer.screens.train.training_data import Data
from explorer.screens.train.upload import TABLES, upload_megabytes
from explorer.text import plain, plural, why
from model.data import DataError
from model.data.files import read_pairs

_HELP = (
    "Training reads these pairs as well as its own, but for those that are there already or whose source is held out. "
    "Data diversification makes such a file from translations by trained models: "
    f"{quoted_command(('python', '-m', 'model.relabel'))}."
)


def choose_added(data: Data, checkpoints: Path) -> tuple[str, ...]:
    """Draw the upload and what each file brings; returns the paths of those that can be used."""
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
            pairs = read_pairs(path, src_lang=data.data.src_lang, tgt_lang=data.data.tgt_lang)
        except (DataError, OSError) as unusable:
            st.error(plain(why(unusable)))
            continue
        first = pairs.examples[0]
        st.caption(
            plain(
                f"{file.name}: {plural(len(pairs.examples), 'pair')}, the first “{first.source}” → “{first.target}”. "
                f"{pairs.skipped_sentence()}".strip()
            )
        )
        paths.append(str(path))
    return tuple(paths)
