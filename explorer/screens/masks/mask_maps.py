"""The tabs The masks and Open padding: one head's scores and weights under its masks, and unmasked padding."""

from __future__ import annotations

import streamlit as st

from explorer.charts.plotly_charts import Columns
from explorer.decoding.labelled_map import SCORE
from explorer.decoding.masked_reading import MaskedReading, Sentence, sentence_of
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import Translation
from explorer.locale.messages import message, t
from explorer.locale.text import weight_percent
from explorer.screens.masks.readings import batch_of, readings
from explorer.web import bound, runtime
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_map, draw_table
from explorer.web.page_parts import URL, controls, draw_caption
from model.analysis.mask_effects import (
    GreedyTranslation,
    Switches,
    attention_to_future,
    largest_change,
    translate_greedily,
)
from model.config import EOS, AttentionKind
from model.trace import VISIBLE

ALONE, BATCH = message("this sentence"), message("a padded batch")
MAX_PADDING = 24
_ROW_FOR = "_masks_row_for"  # in the session: the sentence that the choice of a row belongs to
_NOTHING = 5e-7  # change of a probability, which rounding may cause


def draw_masks_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one head for one sentence of a batch, before and after masking; each mask can be switched off."""
    with controls("masks"), st.container(horizontal=True):
        head = choose_head(model.model_config, "masks", ("decoder", "encoder", "cross"))
        batched = bound.segmented(t("Batch"), [ALONE, BATCH], default=BATCH, key="masks_batch")
    sentences = batch_of(translation) if batched == BATCH else (sentence_of(translation),)
    hints = t("Off: rows may see the future."), t("Off: padding may be read.")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        row = _choose_sentence(sentences) if len(sentences) > 1 else 0
        with st.container(horizontal=True, width="content", gap="medium"):
            switches = Switches(
                causal=st.toggle(t("Causal mask"), True, key="masks_causal", bind=URL, help=hints[0]),
                padding=st.toggle(t("Padding mask"), True, key="masks_padding", bind=URL, help=hints[1]),
            )
    before, after = st.columns(2, gap="large")
    reading = readings(translation.model, sentences, switches, head)[row]
    kind = head[0]
    with before:
        _draw_scores(reading, kind)
    with after:
        _draw_weights(reading, kind, switches)
    if said := _masks_caption(reading, kind, switches, in_batch=len(sentences) > 1):
        draw_caption(said)


def _choose_sentence(sentences: tuple[Sentence, ...]) -> int:
    """Draw the choice of a sentence of the batch, which starts at the one with the most padding."""
    key, about = f"masks_row_{len(sentences)}", sentences[0].text
    shortest = min(range(len(sentences)), key=lambda i: len(sentences[i].ids) + len(sentences[i].path))
    if st.session_state.get(_ROW_FOR, about) != about:
        st.session_state[key] = shortest
    st.session_state[_ROW_FOR] = about
    chosen = st.selectbox(
        t("Sentence of the batch"),
        range(len(sentences)),
        shortest,
        format_func=lambda i: f"{i + 1}. {sentences[i].text}",
        key=key,
        bind=URL,
    )
    return chosen or 0


def _draw_scores(reading: MaskedReading, kind: AttentionKind) -> None:
    """Draw the score of every cell."""
    scores = reading.map(kind, reading.scores, t("Scores before masking"), unit=SCORE, signed=True, top=None)
    draw_map(scores, key="masks_scores", prefix=t("Query · key / √d_head, computed for every cell, closed or not."))


def _draw_weights(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> None:
    """Draw the weights that result from masks and softmax."""
    weights = reading.map(kind, reading.weights, t("Weights after masking and softmax"), switches)
    about = (
        t("Closed cells get the lowest possible score, so softmax gives them 0; each row sums to 1.")
        if (weights.mask != VISIBLE).any()
        else t("No cell is closed; each row sums to 1.")
    )
    if ((weights.values > 0) & (weights.values < 0.005)).any():
        about = f"{about} {t('An open cell without a number is below 0.005.')}"
    draw_map(weights, key="masks_weights", prefix=about)


def _masks_caption(reading: MaskedReading, kind: AttentionKind, switches: Switches, *, in_batch: bool) -> str:
    """Say how much attention goes to what a mask would close, and which mask has nothing to close."""
    sentences = []
    if reading.n_padding(kind):
        if not switches.padding:
            share = weight_percent(reading.to_padding(reading.weights, kind))
            sentences.append(t("Real tokens give padding {share} of their attention on average.", share=share))
    elif in_batch:
        sentences.append(
            t("This is a longest sentence of the batch, so it has no padding; choose a shorter one to see some.")
        )
    if kind == "decoder" and not switches.causal:
        share = weight_percent(attention_to_future(reading.weights, reading.real_queries(kind)))
        sentences.append(t("Real tokens give later positions {share} of their attention on average.", share=share))
    elif kind != "decoder":
        sentences.append(t("The whole source is known from the start, so no row has a future to hide."))
    return " ".join(sentences)


def draw_padding_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw the translation and its probabilities without padding, and with masked and unmasked padding."""
    config = model.model_config
    room = config.max_positions - len(translation.source.ids) - 1
    most = min(MAX_PADDING, room) if config.positions == "learned" else MAX_PADDING
    if most < 1:
        st.info(t("The sentence fills all positions of this model; there is no room for padding."))
        return
    label = t("Padding tokens after the sentence")
    n = int(st.slider(label, 0, most, min(4, most), key="masks_pads", bind=URL))
    ids = (*translation.source.ids, EOS)
    alone, closed, opened = (
        runtime.computed(translation.model, translate_greedily, ids, padding=padding, closed=is_closed)
        for padding, is_closed in ((0, True), (n, True), (n, False))
    )
    runs = {
        t("no padding"): alone,
        t("{n} padding token, closed", "{n:,} padding tokens, closed", n=n): closed,
        t("{n} padding token, open", "{n:,} padding tokens, open", n=n): opened,
    }
    columns: Columns = {
        "": list(runs),
        t("translation"): [model.target.decode(run.path) for run in runs.values()],
        t("mean probability (%)"): [round(100 * run.mean_probability, 2) for run in runs.values()],
        t("largest change (percentage points)"): [round(100 * largest_change(alone, run), 5) for run in runs.values()],
    }
    draw_table(columns, t("Translations without padding, with closed padding and with open padding"), file="padding")
    draw_caption(_padding_caption(alone, closed, opened if n else None))


def _padding_caption(alone: GreedyTranslation, closed: GreedyTranslation, opened: GreedyTranslation | None) -> str:
    """A sentence on the changes by closed and open padding; `opened` is None if there is no padding."""
    moved = largest_change(alone, closed)
    first = (
        t("Closed padding changes nothing: every probability is the same to six decimals.")
        if moved < _NOTHING
        else t(
            "Closed padding hardly changes anything: no probability moved by more than {change:.4f} percentage points.",
            change=100 * moved,
        )
    )
    if opened is None:
        return f"{first} {t('Add padding to see what it does when it is open.')}"
    change = 100 * largest_change(alone, opened)
    second = (
        t(
            "Open padding is read like a word: the translation stays the same, and probabilities move by up to "
            "{change:.1f} percentage points.",
            change=change,
        )
        if opened.path == alone.path
        else t(
            "Open padding is read like a word: the translation changes, and probabilities move by up to {change:.1f} "
            "percentage points.",
            change=change,
        )
    )
    return f"{first} {second}"
