"""The tab The masks: one head's scores and weights under its masks."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.labelled_map import SCORE, closed_cells
from explorer.decoding.masked_reading import Longer, MaskedReading, sentence_of
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import TITLES_WITHOUT_MASK
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t, translated
from explorer.locale.scripts import shortened
from explorer.locale.text import quoted, weight_percent
from explorer.screens.masks.readings import longer_than, masked_reading
from explorer.web import bound
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_map
from explorer.web.page_parts import URL, draw_caption
from model.analysis.mask_effects import Switches, attention_to_future
from model.config import AttentionKind
from model.trace import VISIBLE

_NAMED = 40  # characters of the longer sentence that the page names, so that the maps have the room
ALONE, BATCH = message("this sentence"), message("a padded batch")


def draw_masks_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one head before and after masking, with padding or without; each mask can be switched off."""
    hints = t("Off: rows may see the future."), t("Off: padding may be read.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        switches = Switches(
            causal=st.toggle(t("Causal mask"), True, key="masks_causal", bind=URL, help=hints[0]),
            padding=st.toggle(t("Padding mask"), True, key="masks_padding", bind=URL, help=hints[1]),
        )
        with st.popover(t("Choose head and batch")):
            head = choose_head(model.model_config, "masks", ("decoder", "encoder", "cross"))
            batched = bound.segmented(t("Batch"), [ALONE, BATCH], default=BATCH, key="masks_batch")
        kind, layer, number = head
        title = translated(TITLES_WITHOUT_MASK[kind])
        draw_caption(t("{kind}, layer {layer}, head {head}", kind=title, layer=layer + 1, head=number + 1))
    longer = longer_than(translation) if batched == BATCH else None
    reading = masked_reading(translation.model, sentence_of(translation), switches, head, longer)
    answers = _future_text(reading, kind, switches), _share_text(reading, kind, switches)
    cells = closed_cells(reading.codes(kind, switches))
    with st.container(gap=None):
        if any(answers):
            st.markdown(explained(" ".join(filter(None, answers))))
        draw_caption(f"{cells} {_padding_text(reading, kind, switches, longer)}" if longer else cells)
    before, after = st.columns(2, gap="small")
    with before:
        _draw_scores(reading, kind, switches)
    with after:
        _draw_weights(reading, kind, switches)


def _draw_scores(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> None:
    """Draw the score of every cell, with a mark on those that the masks close."""
    codes = reading.codes(kind, switches)
    closing = codes if (codes != VISIBLE).any() else None
    title = t("Scores before masking")
    scores = reading.map(kind, reading.scores, title, unit=SCORE, signed=True, top=None, closing=closing)
    about = (
        t("Query · key / √d_head, computed for every cell.")
        if closing is None
        else t("Query · key / √d_head, computed for every cell; the masks close those with hatched edges.")
    )
    draw_map(scores, key="masks_scores", prefix=about, group="masks")


def _draw_weights(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> None:
    """Draw the weights that result from masks and softmax."""
    weights = reading.map(kind, reading.weights, t("Weights after masking and softmax"), switches)
    about = t("Closed cells get the lowest possible score, so softmax gives them 0; each row sums to 1.")
    if (weights.mask == VISIBLE).all():
        about = t("Each row sums to 1.")
    draw_map(weights, key="masks_weights", prefix=about, counts=False, group="masks")


def _padding_text(reading: MaskedReading, kind: AttentionKind, switches: Switches, longer: Longer) -> str:
    """Say how many tokens are padded to how many, by what longer sentence, and what is pale."""
    rows, columns = (int(real.sum()) for real in (reading.real_queries(kind), reading.real_keys(kind)))
    n_rows, n_columns = len(reading.queries(kind)), len(reading.keys(kind))
    sentences = []
    if kind != "decoder" and columns < n_columns:
        sentences.append(t("The encoder's {own} tokens are padded to {all}.", own=columns, all=n_columns))
    if kind != "encoder" and rows < n_rows:
        sentences.append(
            t("The decoder's {own} tokens are padded to {all}.", own=rows, all=n_rows)
            if reading.src_tokens
            else t("Beginning and answer, {own} tokens, are padded to {all}.", own=rows, all=n_rows)
        )
    if not sentences:
        return t("This is as long as the model reads, so no longer sentence can give it padding.")
    text = quoted(shortened(longer.text, _NAMED))
    if not longer.text:
        sentences.append(t("A longer sentence in its batch would have the same effect."))
    elif longer.made:
        sentences.append(t("{text}, made longer for this picture, needs as many.", text=text))
    else:
        sentences.append(t("{text} in its batch needs as many.", text=text))
    closed = switches.padding and columns < n_columns
    if closed and rows < n_rows:
        sentences.append(t("Padding is pale, rows and columns."))
    elif closed:
        sentences.append(t("Columns of padding are pale."))
    elif rows < n_rows:
        sentences.append(t("Rows of padding are pale."))
    return " ".join(sentences)


def _share_text(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> str:
    """Say how much attention padding gets without its mask."""
    if switches.padding or not reading.n_padding(kind):
        return ""
    share = weight_percent(reading.to_padding(kind))
    return t("Real tokens give padding {share} of their attention on average.", share=share)


def _future_text(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> str:
    """Say, in one line with the mask and without it, which tokens cannot look ahead, or how much they do."""
    if kind != "decoder":
        return t("The whole source is known from the start, so no row has a future to hide.")
    real = int(reading.real_queries(kind).sum())
    if real < 2:
        return ""
    if switches.causal:
        at = min(1, real - 2)  # the first word, since <sos> is none
        return t(
            "The causal mask closes the future: {row} cannot look ahead to {key}.",
            row=quoted(reading.read_tokens[at]),
            key=quoted(reading.read_tokens[at + 1]),
        )
    row, key, weight = reading.furthest_ahead()
    return t(
        "Without the causal mask, tokens look ahead: {row} gives {share} to {key}, and on average {all} goes to later "
        "positions.",
        row=quoted(row),
        share=weight_percent(weight),
        key=quoted(key),
        all=weight_percent(attention_to_future(reading.weights, reading.real_queries(kind))),
    )
