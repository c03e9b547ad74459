"""The selector for cross-attention or one of the two kinds of self-attention, above the film on Train and Runs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from model.config import AttentionKind

LABELS: dict[AttentionKind, str] = {"cross": "Cross", "encoder": "Encoder self", "decoder": "Decoder self"}


def choose_kind(key: str, **options: Any) -> AttentionKind:
    """Draw the selector and return the chosen kind; `options` are passed to Streamlit."""
    chosen = st.segmented_control(
        "Attention",
        list(LABELS),
        default="cross",
        required=True,
        format_func=LABELS.__getitem__,
        key=key,
        label_visibility="collapsed",
        **options,
    )
    return chosen if chosen in LABELS else "cross"
