"""The widgets that choose a kind of attention, or one head of a model: kind, layer, head."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.names import TITLES_WITHOUT_MASK
from explorer.locale.messages import t, translated
from explorer.web import bound
from explorer.web.bound import URL
from model.config import AttentionKind, ModelConfig

_NUMBER = 70  # width of the choice of a number, in pixels
_KINDS: tuple[AttentionKind, ...] = ("cross", "encoder", "decoder")


def choose_head(config: ModelConfig, key: str, kinds: tuple[AttentionKind, ...]) -> tuple[AttentionKind, int, int]:
    """Draw the widgets; return the kind of attention, and the layer and head counted from 0."""
    kinds = tuple(each for each in kinds if config.n_layers(each))
    with st.container(horizontal=True, width="content"):
        kind = choose_kind(f"{key}_kind", kinds) if len(kinds) > 1 else kinds[0]
        layers, heads = range(1, config.n_layers(kind) + 1), range(1, config.n_heads(kind) + 1)
        with st.container(horizontal=True, width="content"):  # they share a line, also in a narrow place
            layer = st.selectbox(t("Layer"), layers, key=f"{key}_layer_{kind}", bind=URL, width=_NUMBER) or 1
            head = st.selectbox(t("Head"), heads, key=f"{key}_head_{kind}", bind=URL, width=_NUMBER) or 1
    return kind, layer - 1, head - 1


def choose_kind(key: str, kinds: tuple[AttentionKind, ...] = _KINDS) -> AttentionKind:
    """Draw the selector of the kind, which starts at the first one."""
    return bound.segmented(
        t("Attention"), kinds, key=key, default=kinds[0], title_of=lambda kind: translated(TITLES_WITHOUT_MASK[kind])
    )
