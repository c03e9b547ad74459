"""The cross-attention of a Transformer and an LSTM for the same sentence, side by side."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.attention_maps import attention_maps, most_focused
from explorer.decoding.labelled_map import head_map
from explorer.decoding.translator import InputError
from explorer.locale.messages import t
from explorer.locale.text import listed, plain, quoted
from explorer.web import runtime
from explorer.web.figures import draw_map
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
        st.caption(plain(t("To see where both models look in a sentence of your own, open {there}.", there=there)))
    if experiment.name not in PAIRS:
        return
    *names, first = PAIRS[experiment.name]
    st.markdown(f"##### {t('Where they look')}")
    if missing := [name for name in names if name not in runtime.models()]:
        sentence = t(
            "The comparison needs two models, and {names} is missing.",
            "The comparison needs two models, and {names} are missing.",
            n=len(missing),
            names=listed(missing),
        )
        st.caption(plain(sentence))
        return
    text = st.text_input(t("Letters to reverse"), value=first, key="experiment_text", persist_state="session") or ""
    for column, name in zip(st.columns(2, gap="large"), names, strict=True):
        with column:
            _draw_one(name, text)
    st.caption(
        t(
            "For the Transformer, the most focused head of cross-attention is shown; the LSTM has only one head, and "
            "no other attention. Where a model looks does not say why it answers as it does."
        )
    )


def _draw_one(name: str, text: str) -> None:
    try:
        translation = runtime.translate(name, text, DecodeConfig())
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    maps = attention_maps(translation.trace, "cross")
    answer = t("{name} answers {answer}.", name=name, answer=quoted(translation.text))
    draw_map(head_map(maps, *most_focused(maps)), key=f"experiment_map_{name}", prefix=answer)
