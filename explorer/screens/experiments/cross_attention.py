"""The cross-attention of a Transformer and an LSTM for the same sentence, side by side."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.attention_maps import AttentionMaps, attention_maps
from explorer.decoding.labelled_map import head_map
from explorer.decoding.translator import InputError
from explorer.locale.text import listed, plain, quoted
from explorer.web import runtime
from explorer.web.maps import draw_map
from model.config import DecodeConfig
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.folder import CheckpointError

PAIRS = {"lstm-reverse": ("reverse", "reverse-lstm", "headlight")}  # experiment: Transformer, LSTM, initial sentence
LIKE = ("lstm-swap", "lstm-multi30k")  # the same two kinds of model; these experiments keep no weights


def draw_maps(experiment: Experiment) -> None:
    """The cross-attention of both models for a sentence that the user types; nothing if there is no such pair."""
    if experiment.name in LIKE:
        there = " and ".join(f"'{EXPERIMENTS[name].title}'" for name in PAIRS)
        st.caption(plain(f"To see where both models look in a sentence of your own, open {there}."))
    if experiment.name not in PAIRS:
        return
    *names, first = PAIRS[experiment.name]
    st.markdown("##### Where they look")
    missing = [name for name in names if name not in runtime.models()]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        st.caption(plain(f"The comparison needs two models, and {listed(missing)} {verb} missing."))
        return
    text = st.text_input("Letters to reverse", value=first, key="experiment_text", persist_state="session") or ""
    columns = st.columns(2, gap="large")
    for column, name in zip(columns, names, strict=True):
        with column:
            _draw_one(name, text)
    st.caption(
        "For the Transformer, the most focused head of cross-attention is shown; the LSTM has only one head, and no "
        "other attention. Where a model looks does not say why it answers as it does."
    )


def _draw_one(name: str, text: str) -> None:
    try:
        shown = runtime.translate(name, text, DecodeConfig())
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    maps = attention_maps(shown.trace, "cross")
    draw_map(
        head_map(maps, *most_focused(maps)),
        key=f"experiment_map_{name}",
        prefix=f"{name} answers {quoted(shown.text)}.",
    )


def most_focused(maps: AttentionMaps) -> tuple[int, int]:
    """Layer and head, from 1, whose rows have the largest weights on average."""
    decided = maps.weights.max(axis=-1).mean(axis=-1)  # [layer, head]
    layer, head = divmod(int(decided.argmax()), decided.shape[1])
    return layer + 1, head + 1
