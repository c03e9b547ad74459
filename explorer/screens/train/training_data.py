"""The data part of the Train page: a built-in task, with samples, or a person's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from explorer.locale.text import plain, plural
from explorer.runs.settings import Changes
from explorer.screens.train.own_pairs import choose_pairs
from explorer.web.figures import draw_table
from model.config import DataConfig
from model.data import MADE_HERE, TASKS, DataError, get_task
from model.data.files import files_preset
from model.data.proposal import Proposal
from model.data.task import MissingCorpusError
from model.presets import Preset

SHOWN = 5  # sample pairs on the page
FILES = "files"
_PREFERRED = "reverse"


@dataclass(frozen=True)
class Data:
    """What a run learns from: task, data settings, default preset, further arguments, and a suggested name.

    A person's own data also have a proposal and, once they are chosen, the tokens as settings.
    """

    task: str
    data: DataConfig
    default_preset: str
    arguments: tuple[str, ...] = ()
    wanted_name: str = ""
    proposal: Proposal | None = None
    tokens: Changes = ()

    def adapted(self, preset: Preset) -> Preset:
        """The preset, with the settings proposed for own data."""
        return preset if self.proposal is None else self.proposal.adapted(preset)


def choose_data(checkpoints: Path) -> Data | None:
    """Draw the choice of data; None while no usable data are chosen."""
    names = [*TASKS, FILES]
    task = st.selectbox(
        "Data",
        names,
        index=names.index(_PREFERRED),
        format_func=_title,
        key="train_task",
        persist_state="session",
        help="What the model learns. Each task has its own training, validation and test sentences.",
    )
    return _own_files(checkpoints) if task == FILES else _built_in(task or _PREFERRED)


@st.cache_resource(max_entries=64, show_spinner=False)
def _title(name: str) -> str:
    return "Your own sentence pairs" if name == FILES else get_task(name).title


def _built_in(name: str) -> Data:
    task = get_task(name)
    st.caption(plain(task.description))
    asked, failed = f"train_fetch_{name}", f"_train_fetch_failed_{name}"
    fetching = bool(st.session_state.pop(asked, False))
    try:
        _show_samples(name, fetch=fetching)
        st.session_state.pop(failed, None)
    except MissingCorpusError:
        st.caption(
            "These sentences do not come with Headlight, and are not on this machine yet (nor in a folder that "
            "HEADLIGHT_DATA names). Starting the training downloads them, too."
        )
        if failure := st.session_state.get(failed):  # kept, since the page is run again when the estimate arrives
            st.warning(plain(failure))
        _offer_download(name, "Try again" if failure else "Download and show some")
    except DataError as missing:
        st.warning(plain(str(missing)))
        if name not in MADE_HERE:
            st.session_state[failed] = str(missing)
            _offer_download(name, "Try again")
    return Data(name, task.data, task.default_preset, wanted_name=name)


def _offer_download(name: str, words: str) -> None:
    if st.button(words, key=f"train_fetch_button_{name}"):
        st.session_state[f"train_fetch_{name}"] = True
        st.rerun()


def _show_samples(name: str, *, fetch: bool) -> None:
    rows, counts = _samples(name, _fetch=fetch)
    draw_table(rows, plural(len(rows), "training pair"), height=35 * (SHOWN + 1) + 3)
    pairs = plural(counts["train"], "training pair")
    st.caption(f"{len(rows)} of {pairs}; {counts['valid']:,} more for validation.")


@st.cache_resource(max_entries=16, show_spinner="Reading the sentences …")
def _samples(name: str, _fetch: bool) -> tuple[list[dict[str, str]], dict[str, int]]:
    """A few training pairs from all parts of the data, and the number of examples in each split."""
    splits = get_task(name, fetch=_fetch).splits
    train = splits["train"]
    chosen = [train[(2 * i + 1) * len(train) // (2 * SHOWN)] for i in range(min(SHOWN, len(train)))]
    rows = [{"source": example.source, "target": example.target} for example in chosen]
    return rows, {split: len(examples) for split, examples in splits.items()}


def _own_files(checkpoints: Path) -> Data | None:
    own = choose_pairs(checkpoints)
    if own is None:
        return None
    return Data(
        FILES,
        own.proposal.data,
        files_preset(own.n_train),
        own.arguments,
        wanted_name="my-model",
        proposal=own.proposal,
    )
