"""How a run is computed and what it starts from: settings of the Train page that are rarely changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.locale.text import plain
from explorer.runs.settings import Changes
from explorer.screens.train.setting_fields import further_fields, token_fields
from explorer.screens.train.training_data import Data
from explorer.web import runtime
from model.presets import Preset

_FRESH = ""
_INIT = "train_init"


def choose_computation() -> dict[str, Any]:
    """Draw the fields and return their values under the names of `TrainingOrder`."""
    columns = st.columns(5, vertical_alignment="bottom")
    with columns[0]:
        init = _start()
    with columns[1]:
        device = _one_of(
            "Device",
            ("auto", "cpu", "cuda", "mps"),
            "auto uses an NVIDIA GPU (cuda) if there is one, else Apple's GPU (mps), else the CPU.",
        )
    with columns[2]:
        precision = _one_of(
            "Precision",
            ("auto", "fp32", "bf16"),
            "fp32 computes with 32 bits per number; bf16 multiplies with 16 where that does no harm. "
            "auto follows from the machine and the sizes, so that the same command gives the same weights.",
        )
    with columns[3]:
        threads = st.number_input(
            "CPU threads",
            step=1,
            value=0,
            key="train_threads",
            persist_state="session",
            help="0: as many as a batch of this size keeps busy. Another number may round other last digits.",
        )
    with columns[4]:
        compiled = st.toggle(
            "Compile",
            key="train_compile",
            persist_state="session",
            help="Optimise the model with torch.compile before the first update. It takes a minute or more, so it pays "
            "off for long runs only, and needs a C++ compiler.",
        )
    return {"init": init, "device": device, "precision": precision, "threads": threads, "compile": compiled}


def choose_further(preset: Preset, data: Data, scope: str, init: str) -> Changes:
    """The remaining settings; those of the tokenizer only where the tokenizers are built anew."""
    if init:
        tokenizer = runtime.summary(init)["data"].get("tokenizer")
        st.caption(plain(f"Sizes and tokenizers are those of '{init}'. Words that it does not know remain unknown."))
        return further_fields(preset, scope, str(tokenizer))
    changes = token_fields(data.data, data.task, drawn=data.tokens)
    chosen = {**dict(data.tokens), **dict(changes)}
    return changes + further_fields(preset, scope, chosen.get("tokenizer", data.data.tokenizer))


def _start() -> str:
    names = [_FRESH, *runtime.models()]
    if st.session_state.get(_INIT) not in names:
        st.session_state.pop(_INIT, None)  # it was deleted meanwhile
    chosen = st.selectbox(
        "Start from",
        names,
        format_func=lambda name: name or "nothing",
        key=_INIT,
        persist_state="session",
        help="nothing: the weights are initialised at random. A model: training continues from its weights.",
    )
    return chosen or _FRESH


def _one_of(label: str, options: Sequence[str], help_text: str) -> str:
    chosen = st.selectbox(label, options, key=f"train_{label.lower()}", persist_state="session", help=help_text)
    return chosen or options[0]
