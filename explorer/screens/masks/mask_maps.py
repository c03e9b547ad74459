"""The tab The masks: one head's scores and weights under its masks."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.labelled_map import SCORE
from explorer.decoding.masked_reading import MaskedReading, Sentence, sentence_of
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import TITLES_WITHOUT_MASK
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t, translated
from explorer.locale.text import quoted, weight_percent
from explorer.screens.masks.readings import batch_of, readings
from explorer.web import bound
from explorer.web.choose_head import choose_head
from explorer.web.figures import draw_map
from explorer.web.page_parts import URL, draw_caption
from model.analysis.mask_effects import Switches, attention_to_future
from model.config import AttentionKind
from model.trace import VISIBLE

ALONE, BATCH = message("this sentence"), message("a padded batch")
_ROW_FOR = "_masks_row_for"  # in the session: the sentence that the choice of a row belongs to


def draw_masks_tab(translation: Translation, model: ModelDescription) -> None:
    """Draw one head for one sentence of a batch, before and after masking; each mask can be switched off."""
    hints = t("Off: rows may see the future."), t("Off: padding may be read.")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        switches = Switches(
            causal=st.toggle(t("Causal mask"), True, key="masks_causal", bind=URL, help=hints[0]),
            padding=st.toggle(t("Padding mask"), True, key="masks_padding", bind=URL, help=hints[1]),
        )
        with st.popover(t("Choose head and sentence")):
            head = choose_head(model.model_config, "masks", ("decoder", "encoder", "cross"))
            batched = bound.segmented(t("Batch"), [ALONE, BATCH], default=BATCH, key="masks_batch")
            sentences = batch_of(translation) if batched == BATCH else (sentence_of(translation),)
            row = _choose_sentence(sentences) if len(sentences) > 1 else 0
        kind, layer, number = head
        title = translated(TITLES_WITHOUT_MASK[kind])
        draw_caption(t("{kind}, layer {layer}, head {head}", kind=title, layer=layer + 1, head=number + 1))
    reading = readings(translation.model, sentences, switches, head)[row]
    # Nobody chose the sentence that a long one of the visitor's stands back for.
    shown = t("(Shown is sentence {n} of the batch: {sentence})", n=row + 1, sentence=quoted(sentences[row].text))
    answers = shown if row else "", _future_text(reading, kind, switches), _share_text(reading, kind, switches)
    if any(answers):
        st.markdown(explained(" ".join(filter(None, answers))))
    before, after = st.columns(2, gap="small")
    with before:
        _draw_scores(reading, kind, switches)
    with after:
        _draw_weights(reading, kind, switches)
    longest = max(sentences, key=lambda each: len(each.ids) + len(each.path)).text
    if padded := _padding_text(reading, sentences[row], kind, switches, longest if len(sentences) > 1 else ""):
        draw_caption(padded)


def _choose_sentence(sentences: tuple[Sentence, ...]) -> int:
    """Draw the choice of a sentence of the batch; it starts at the current one, or if that is longest, the next."""
    key, about = f"masks_row_{len(sentences)}", sentences[0].text
    lengths = [len(each.ids) + len(each.path) for each in sentences]
    shorter = [length for length in lengths if length < max(lengths)]
    first = lengths.index(max(shorter)) if shorter and lengths[0] == max(lengths) else 0
    if st.session_state.get(_ROW_FOR, about) != about:
        st.session_state[key] = first
    st.session_state[_ROW_FOR] = about
    chosen = st.selectbox(
        t("Sentence of the batch"),
        range(len(sentences)),
        first,
        format_func=lambda i: f"{i + 1}. {sentences[i].text}",
        key=key,
        bind=URL,
    )
    return chosen or 0


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
    draw_map(scores, key="masks_scores", prefix=about)


def _draw_weights(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> None:
    """Draw the weights that result from masks and softmax."""
    weights = reading.map(kind, reading.weights, t("Weights after masking and softmax"), switches)
    about = (
        t("Closed cells get the lowest possible score, so softmax gives them 0; each row sums to 1.")
        if (weights.mask != VISIBLE).any()
        else t("No cell is closed; each row sums to 1.")
    )
    draw_map(weights, key="masks_weights", prefix=about)


def _padding_text(
    reading: MaskedReading, sentence: Sentence, kind: AttentionKind, switches: Switches, longest: str
) -> str:
    """Say where the sentence and its padding are from, and what its rows are for.

    `longest` is the longest sentence of the batch ("" = there is no batch).
    """
    sentences = []
    rows_padded = not reading.real_queries(kind).all()
    if rows_padded or reading.n_padding(kind):
        sentences.append(
            t(
                "Padding fills {sentence} up to the length of {longest}, in one batch with it.",
                sentence=quoted(sentence.text),
                longest=quoted(longest),
            )
        )
    elif longest:
        sentences.append(
            t("This is a longest sentence of the batch, so it has no padding; choose a shorter one to see some.")
        )
    if sentence.is_beginning:
        sentences.append(t("It is the beginning of your sentence; its target is the beginning of that target."))
    if switches.padding and rows_padded:
        sentences.append(t("The rows of padding are computed like all others, and nothing uses their results."))
    return " ".join(sentences)


def _share_text(reading: MaskedReading, kind: AttentionKind, switches: Switches) -> str:
    """Say how much attention padding gets without its mask."""
    if switches.padding or not reading.n_padding(kind):
        return ""
    share = weight_percent(reading.to_padding(reading.weights, kind))
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
            "The causal mask closes {n} cell of real tokens: {row} cannot look ahead to {key}.",
            "The causal mask closes {n} cells of real tokens: {row}, for example, cannot look ahead to {key}.",
            n=real * (real - 1) // 2,
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
