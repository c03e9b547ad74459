"""How a run is computed and what it starts from: the settings of the Train page that hardly anybody needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.runs.settings import Changes
from explorer.screens.train.setting_fields import further_fields, token_fields
from explorer.screens.train.training_data import Data
from explorer.text import plain
from explorer.web import runtime
from model.presets import Preset

_FRESH = ""
_INIT = "train_init"


def choose_ways() -> dict[str, Any]:
    """Draw the fields and return what they say, by the names that `Order` has for it."""
    columns = st.columns(4, vertical_alignment="bottom")
    with columns[0]:
        init = _start()
    with columns[1]:
        device = _one_of(
            "Device",
            ("auto", "cpu", "cuda", "mps"),
            "auto takes an NVIDIA GPU (cuda), then Apple's GPU (mps), then the CPU.",
        )
    with columns[2]:
        precision = _one_of(
            "Precision",
            ("auto", "fp32", "bf16"),
            "fp32 computes with 32 bits a number, bf16 multiplies with 16 where that does no harm. "
            "auto tries what is quicker here.",
        )
    with columns[3]:
        compiled = st.toggle(
            "Compile",
            key="train_compile",
            persist_state="session",
            help="Let torch.compile look for a quicker way before the first update. It takes a minute or more, so it "
            "pays for long runs only, and needs a C++ compiler.",
        )
    return {"init": init, "device": device, "precision": precision, "compile": compiled}


def choose_rest(preset: Preset, data: Data, scope: str, init: str) -> Changes:
    """The remaining settings; how text is cut can only be chosen where the tokenizers are made anew."""
    if init:
        tokenizer = runtime.models()[init]["data"].get("tokenizer")
        st.caption(plain(f"Sizes and tokenizers are those of '{init}'. Words that it does not know stay unknown."))
        return further_fields(preset, scope, str(tokenizer))
    changes = token_fields(data.data, data.task)
    return changes + further_fields(preset, scope, dict(changes).get("tokenizer", data.data.tokenizer))


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
        help="nothing: weights are drawn by chance. A model: its weights are the first ones, and learn on.",
    )
    return chosen or _FRESH


def _one_of(label: str, options: Sequence[str], help_text: str) -> str:
    chosen = st.selectbox(label, options, key=f"train_{label.lower()}", persist_state="session", help=help_text)
    return chosen or options[0]
