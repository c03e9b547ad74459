"""The tab The masks: padding mask, causal mask and both, and one head's scores before and after them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.charts import masks as figures
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import TITLES_WITHOUT_MASK, name_in_kind
from explorer.decoding.padded_sentences import PaddedSentences
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.screens.masks.teacher_forced import companions, padded, reading
from explorer.web.choose_head import choose_head
from explorer.web.page_parts import URL, draw_plot
from model.analysis.mask_comparison import attention_to_future, attention_to_keys
from model.analysis.mask_effects import Reading, Switches
from model.config import PAD, AttentionKind
from model.points import Head

ALONE, BATCH = "this sentence", "a padded batch"


def draw_masks_tab(shown: Translation, model: ModelDescription) -> None:
    """The masks of one sentence of a batch, and one head before masking, after masking and after softmax."""
    kind, layer, head = choose_head(model.model_config, "masks", ("decoder", "encoder", "cross"))
    left, middle, right = st.columns([3, 2, 2], vertical_alignment="bottom")
    batched = left.segmented_control("Batch", [ALONE, BATCH], default=BATCH, required=True, key="masks_batch", bind=URL)
    sentences = padded(shown, companions(shown) if batched == BATCH else ())
    switches = Switches(
        causal=middle.toggle("Causal mask", True, key="masks_causal", bind=URL, help="Off: rows may see the future."),
        padding=right.toggle("Padding mask", True, key="masks_padding", bind=URL, help="Off: padding may be read."),
    )
    row = _choose_sentence(sentences, kind) if len(sentences.texts) > 1 else 0
    done = reading(shown, sentences, switches, (kind, layer, head))
    _draw_masks(sentences, kind, row, switches)
    _draw_scores(done, sentences, (kind, layer, head), row, switches)


def _choose_sentence(sentences: PaddedSentences, kind: AttentionKind) -> int:
    """A sentence of the batch: at first the one that was typed, or the shortest where the typed one has no padding."""
    keys = sentences.batch.tgt if kind == "decoder" else sentences.batch.src
    lengths = keys.ne(PAD).sum(dim=1)
    first = 0 if lengths[0] < lengths.max() else int(lengths.argmin())
    chosen = st.selectbox(
        "Sentence of the batch",
        range(len(sentences.texts)),
        index=first,
        format_func=lambda i: f"{i + 1}. {sentences.texts[i]}",
        key=f"masks_row_{len(sentences.texts)}",
        bind=URL,
    )
    return chosen or 0


def _draw_masks(sentences: PaddedSentences, kind: AttentionKind, row: int, switches: Switches) -> None:
    rows, columns = sentences.queries(kind, row), sentences.keys(kind, row)
    padding = sentences.codes(kind, row, Switches(causal=False, padding=switches.padding))
    left, middle, right = st.columns(3, gap="medium")
    with left:
        draw_plot(figures.mask_plot(padding, kind, rows, columns, "Padding mask"), "masks_padding_plot")
    with middle:
        if kind == "decoder":
            causal = sentences.codes(kind, row, Switches(causal=switches.causal, padding=False))
            draw_plot(figures.mask_plot(causal, kind, rows, columns, "Causal mask"), "masks_causal_plot")
        else:
            st.markdown("##### Causal mask")
            st.caption("None here: the whole source is known from the start, so every row may look at all of it.")
    with right:
        both = sentences.codes(kind, row, switches)
        draw_plot(figures.mask_plot(both, kind, rows, columns, "Both together"), "masks_both_plot")


def _draw_scores(done: Reading, sentences: PaddedSentences, at: Head, row: int, switches: Switches) -> None:
    kind, layer, head = at
    (details,) = done.recorder.details[kind, layer, head]
    scores, masked, weights = (details[name][row].numpy() for name in ("scores", "masked", "weights"))
    codes = sentences.codes(kind, row, switches)
    rows, columns = sentences.queries(kind, row), sentences.keys(kind, row)
    span = float(np.abs(scores).max()) or 1.0
    left, middle, right = st.columns(3, gap="medium")
    with left:
        title = "1. Scores before masking"
        draw_plot(
            figures.score_plot(scores, codes, kind, rows, columns, title, masked=False, span=span), "masks_scores"
        )
    with middle:
        title = "2. After masking"
        draw_plot(figures.score_plot(masked, codes, kind, rows, columns, title, masked=True, span=span), "masks_masked")
    with right:
        draw_plot(figures.weight_plot(weights, codes, kind, rows, columns, "3. After softmax"), "masks_weights")
    padding, real = sentences.padded_keys(kind, row), ~sentences.padded_queries(kind, row)
    name = f"{TITLES_WITHOUT_MASK[kind]}, {name_in_kind(layer + 1, head + 1)}"
    caption = f"{name}, in one run of the model with these masks. "
    if padding.any():
        share = 100 * attention_to_keys(weights, real, padding)
        caption += f"Real tokens give padding {share:.0f} % of their attention on average. "
    if kind == "decoder":
        caption += f"They give {100 * attention_to_future(weights, real):.0f} % to later positions."
    st.caption(explained(caption))
