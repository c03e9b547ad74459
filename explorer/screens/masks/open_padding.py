"""The tab Open padding: padding that attention may read, and what it does to the translation."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.byte_cache import cached
from explorer.charts.plotly_charts import Columns, numbered
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.padded_sentences import PaddedSentences
from explorer.decoding.translator import Translation
from explorer.locale.glossary import explained
from explorer.locale.text import plural, quoted
from explorer.screens.masks.teacher_forced import companions, padded, reading
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL
from model.analysis.mask_comparison import attention_to_keys, largest_change
from model.analysis.mask_effects import Spoken, Switches, say
from model.config import EOS, PAD
from model.points import Head

MAX_PADDING = 24
FIRST_HEAD: Head = ("encoder", 0, 0)


def draw_padding_tab(shown: Translation, model: ModelDescription) -> None:
    """Padding after the current sentence, closed and open: the translation and its probabilities."""
    config = model.model_config
    room = config.max_positions - len(shown.source.ids) - 1
    most = min(MAX_PADDING, room) if config.positions == "learned" else MAX_PADDING
    if most < 1:
        st.info("The sentence fills all positions of this model; there is no room for padding.")
        return
    n = int(st.slider("Padding tokens after the sentence", 0, most, min(4, most), key="masks_pads", bind=URL))
    alone = _say(shown, 0, closed=True)
    closed, opened = _say(shown, n, closed=True), _say(shown, n, closed=False)
    tokens = plural(n, "padding token")
    runs = {"no padding": alone, f"{tokens}, closed": closed, f"{tokens}, open": opened}
    columns: Columns = {
        "": list(runs),
        "translation": [model.target.decode(run.path) for run in runs.values()],
        "mean probability (%)": [round(100 * float(np.mean(run.probabilities)), 2) for run in runs.values()],
        "largest change (percentage points)": [round(100 * largest_change(alone, run), 5) for run in runs.values()],
    }
    draw_table(columns, "Translations without padding, with closed padding and with open padding")
    st.caption(explained(_padding_caption(alone, closed, opened if n else None)))
    sentences = padded(shown, companions(shown))
    if len(sentences.texts) > 1:
        _draw_batch(shown, sentences)


def _padding_caption(alone: Spoken, closed: Spoken, opened: Spoken | None) -> str:
    """What closed and open padding change; `opened` is None where there is no padding."""
    first = (
        f"Closed padding changes nothing: no probability moved by more than {100 * largest_change(alone, closed):.4f} "
        f"percentage points. "
    )
    if opened is None:
        return first + "Add padding to see what it does when it is open."
    verb = "stays the same" if opened.path == alone.path else "changes"
    return first + (
        f"Open padding is read like a word: the translation {verb}, and probabilities move by up to "
        f"{100 * largest_change(alone, opened):.1f} percentage points."
    )


def _draw_batch(shown: Translation, sentences: PaddedSentences) -> None:
    """The padded batch: each sentence's attention to padding, and the probability of the right next token."""
    st.markdown("##### The same for a padded batch, with given targets")
    closed = reading(shown, sentences, Switches(), FIRST_HEAD)
    opened = reading(shown, sentences, Switches(padding=False), FIRST_HEAD)
    columns: Columns = {
        "sentence": numbered(sentences.texts),
        "padding tokens": sentences.batch.src.eq(PAD).sum(dim=1).tolist(),
        "to padding, closed (%)": [],
        "to padding, open (%)": [],
        "right, closed (%)": [],
        "right, open (%)": [],
    }
    for row in range(len(sentences.texts)):
        padding = sentences.padded_keys("encoder", row)
        for name, run in (("closed", closed), ("open", opened)):
            share = attention_to_keys(run.recorder.weights("encoder", row=row), ~padding, padding)
            columns[f"to padding, {name} (%)"].append(round(100 * share, 1))
            columns[f"right, {name} (%)"].append(round(100 * sentences.probability_of_target(run, row), 2))
    draw_table(columns, "Attention to padding and probability of the right token, with padding closed and open")
    worst = int(np.argmax(columns["to padding, open (%)"]))
    st.caption(
        explained(
            f"To padding: encoder self-attention, mean over layers, heads and real tokens. Right: the probability of "
            f"the right next token. With open padding, {quoted(sentences.texts[worst])} gives padding "
            f"{columns['to padding, open (%)'][worst]:.0f} %; its translation would then depend on the other sentences "
            f"of its batch."
        )
    )


def _say(shown: Translation, padding: int, *, closed: bool) -> Spoken:
    return _said(shown.model, runtime.fingerprint(shown.model), shown.source.ids, padding, closed)


@cached
def _said(name: str, version: str, ids: tuple[int, ...], padding: int, closed: bool) -> Spoken:
    del version  # part of the key only
    with runtime.model(name) as translator:
        return say(translator.loaded.transformer, (*ids, EOS), padding=padding, closed=closed)
