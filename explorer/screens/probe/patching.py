"""The Probe page's Patching tab: a vector from another sentence in place of this sentence's own."""

from __future__ import annotations

import streamlit as st

from explorer.charts.patch_grid import patch_plot
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import InputError
from explorer.locale.text import plain
from explorer.probing.patching import Patched, patched
from explorer.web import page_parts, runtime, session
from explorer.web.measurements import store
from model.analysis.patching import PatchError
from model.config import DecodeConfig

MOST_LETTERS = 400  # of the other sentence


def draw_patching(described: ModelDescription, text: str) -> None:
    """Draw the field for the other sentence, the row to watch, and both grids."""
    try:
        shown = runtime.translate(described.name, text, DecodeConfig())
    except InputError as nothing:
        st.info(plain(str(nothing)))
        return
    st.caption(
        "Type a sentence that differs in a word and has as many tokens. Each cell shows what happens to the prediction "
        "if the one vector there comes from that sentence and all else stays: where the difference is carried, the "
        "prediction changes."
    )
    left, right = st.columns([3, 2])
    other = left.text_input("The other sentence", value=text, key="patching_other", max_chars=MOST_LETTERS)
    rows = range(len(shown.path))
    now = min(max(session.selection().step or 1, 1), len(shown.path)) - 1
    row: int = right.selectbox(
        "The prediction to watch",
        rows,
        index=now,
        format_func=lambda row: f"{row + 1} {shown.trace.predicted_tokens[row]}",
        key=f"patching_row_{shown.seq}",
    )
    key = (f"patching {row} {other}", described.name, runtime.fingerprint(described.name), shown.seq)

    def make() -> Patched:
        with runtime.model(described.name) as translator:
            return patched(translator, shown, other.strip(), row)

    try:
        found = store().quick(key, make)
    except (PatchError, InputError) as unfit:
        st.info(plain(str(unfit)))
        return
    for stack, column in zip(("encoder", "decoder"), st.columns(2), strict=True):
        with column:
            page_parts.draw_plot(patch_plot(found, stack), f"patching_{stack}")  # type: ignore[arg-type]
