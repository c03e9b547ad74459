"""The data part of the Train page: a task that is built in, with samples shown."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from explorer.facts import plain
from model.config import DataConfig
from model.data import TASKS, DataError, get_task

SHOWN = 5  # sample pairs on the page
_PREFERRED = "reverse"


@dataclass(frozen=True)
class Data:
    """What a run is to learn from: the task's name, further words of the command, and where its settings start."""

    task: str
    data: DataConfig
    default_preset: str
    words: tuple[str, ...] = ()
    wanted_name: str = ""


def choose_data() -> Data | None:
    """Draw the choice of data; None while there is nothing that a run could start with."""
    names = list(TASKS)
    task = st.selectbox(
        "Data",
        names,
        index=names.index(_PREFERRED),
        required=True,
        format_func=_title,
        key="train_task",
        persist_state="session",
        help="What the model is to learn. Each task comes with its own training, validation and test sentences.",
    )
    return _built_in(task or _PREFERRED)


@st.cache_resource(max_entries=64, show_spinner=False)
def _title(name: str) -> str:
    return get_task(name).title


def _built_in(name: str) -> Data | None:
    task = get_task(name)
    st.caption(plain(task.description))
    try:
        rows, counts = _samples(name)
    except DataError as missing:
        st.warning(plain(str(missing)))
        return None
    st.dataframe(rows, hide_index=True, height=35 * (SHOWN + 1) + 3, alt=f"{len(rows)} training pairs")
    st.caption(f"{len(rows)} of {counts['train']:,} training pairs; {counts['valid']:,} more for validation.")
    return Data(name, task.data, task.default_preset, wanted_name=name)


@st.cache_resource(max_entries=16, show_spinner="Making the sentences …")
def _samples(name: str) -> tuple[list[dict[str, str]], dict[str, int]]:
    """A few training pairs, spread over the data, and the number of examples in each split."""
    splits = get_task(name).splits
    train = splits["train"]
    chosen = [train[(2 * i + 1) * len(train) // (2 * SHOWN)] for i in range(min(SHOWN, len(train)))]
    rows = [{"source": example.source, "target": example.target} for example in chosen]
    return rows, {split: len(examples) for split, examples in splits.items()}
