"""The tabs The masks and Open padding: one head's scores and weights under its masks, and unmasked padding."""

from __future__ import annotations

import streamlit as st

from explorer.charts.plotly_charts import Columns
from explorer.decoding.labelled_map import SCORE
from explorer.decoding.masked_reading import MaskedReading, Sentence, closed_cells, sentence_of
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import TITLES_WITHOUT_MASK, name_in_kind
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.screens.masks.readings import batch_of, readings
from explorer.web import runtime
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
from model.points import Head

ALONE, BATCH = "this sentence", "a padded batch"
MAX_PADDING = 24
_NOTHING = 5e-7  # change of a probability, which rounding may cause


def draw_masks_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one head for one sentence of a batch, before and after masking; each mask can be switched off."""
    with controls("masks"):
        head = choose_head(model.model_config, "masks", ("decoder", "encoder", "cross"))
        left, middle, right = st.columns([3, 2, 2], vertical_alignment="bottom")
        below = st.container()
    batched = left.segmented_control(
        t("Batch"), [ALONE, BATCH], default=BATCH, required=True, key="masks_batch", bind=URL
    )
    sentences = batch_of(translation) if batched == BATCH else (sentence_of(translation),)
    hints = t("Off: rows may see the future."), t("Off: padding may be read.")
    switches = Switches(
        causal=middle.toggle(t("Causal mask"), True, key="masks_causal", bind=URL, help=hints[0]),
        padding=right.toggle(t("Padding mask"), True, key="masks_padding", bind=URL, help=hints[1]),
    )
    with below:
        row = _choose_sentence(sentences, head[0]) if len(sentences) > 1 else 0
    reading = readings(translation.model, sentences, switches, head)[row]
    _draw_scores(reading, head, switches)


def _choose_sentence(sentences: tuple[Sentence, ...], kind: AttentionKind) -> int:
    """Draw the choice of a sentence of the batch: at first the typed one, or if it has no padding, the shortest."""
    lengths = [len(each.read_tokens if kind == "decoder" else each.src_tokens) for each in sentences]
    chosen = st.selectbox(
        t("Sentence of the batch"),
        range(len(sentences)),
        index=0 if lengths[0] < max(lengths) else lengths.index(min(lengths)),
        format_func=lambda i: f"{i + 1}. {sentences[i].text}",
        key=f"masks_row_{len(sentences)}",
        bind=URL,
    )
    return chosen or 0


def _draw_scores(reading: MaskedReading, head: Head, switches: Switches) -> None:
    """Draw the score of every cell, and the weights that result from masks and softmax."""
    kind = head[0]
    before = reading.map(kind, reading.scores, t("Scores before masking"), unit=SCORE, signed=True, top=None)
    after = reading.map(kind, reading.weights, t("Weights after masking and softmax"), switches)
    left, right = st.columns(2, gap="large")
    with left:
        about = t("Query · key / √d_head, computed for every cell, closed or not.")
        draw_map(before, key="masks_scores", prefix=about)
    with right:
        about = t("Closed cells get the lowest possible score, so softmax gives them 0; each row sums to 1.")
        draw_map(after, key="masks_weights", prefix=f"{closed_cells(after.mask)} {about}")
    name = f"{TITLES_WITHOUT_MASK[kind]}, {name_in_kind(head[1] + 1, head[2] + 1)}"
    sentences = [t("{head}, in one run of the model with these masks.", head=name)]
    if reading.n_padding(kind):
        share = 100 * reading.to_padding(reading.weights, kind)
        sentences.append(t("Real tokens give padding {share:.0f} % of their attention on average.", share=share))
    if kind == "decoder":
        share = 100 * attention_to_future(reading.weights, reading.real_queries(kind))
        sentences.append(t("They give {share:.0f} % to later positions.", share=share))
    else:
        sentences.append(t("The whole source is known from the start, so no row has a future to hide."))
    draw_caption(" ".join(sentences))


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
