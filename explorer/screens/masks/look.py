"""Masks to look at: padding, future and both, the scores before and after, and padding that may be attended to."""

from __future__ import annotations

import numpy as np
import streamlit as st

from explorer.figures import masks as figures
from explorer.figures.plotly_charts import Columns, numbered
from explorer.screens.masks.padded_sentences import Sentences, companions, reading, right_share, sentences
from explorer.text import plain
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import Translation
from explorer.web import runtime
from explorer.web.choose_head import KINDS, choose_head
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL, draw_plot
from model.analysis.mask_effects import Reading, Spoken, Switches, say
from model.config import EOS, PAD, AttentionKind

MAX_PADDING = 24
ALONE, BATCH = "this sentence", "a padded batch"


def draw_masks_tab(described: ModelDescription, shown: Translation) -> None:
    """The masks of one sentence of a batch, and one head's scores before masking, after masking, after softmax."""
    kind, layer, head = choose_head(described, "masks", ("decoder", "encoder", "cross"))
    left, middle, right = st.columns([3, 2, 2], vertical_alignment="bottom")
    batched = left.segmented_control("Batch", [ALONE, BATCH], default=BATCH, required=True, key="masks_batch", bind=URL)
    others = companions(shown) if batched == BATCH else ()
    found = sentences(shown, described.target, others)
    switches = Switches(
        causal=middle.toggle("Causal mask", True, key="masks_causal", bind=URL, help="Off: rows may see the future."),
        padding=right.toggle("Padding mask", True, key="masks_padding", bind=URL, help="Off: padding may be read."),
    )
    row = 0
    if len(found.texts) > 1:
        shortest = int(found.batch.src.ne(PAD).sum(dim=1).argmin())
        row = (
            st.selectbox(
                "Sentence of the batch",
                range(len(found.texts)),
                index=shortest,
                format_func=lambda i: f"{i + 1}. {found.texts[i]}",
                key=f"masks_row_{len(found.texts)}",
                bind=URL,
            )
            or 0
        )
    done = reading(shown, found, switches, (kind, layer, head))
    _mask_pictures(found, kind, row, switches)
    _score_pictures(done, found, kind, layer, head, row, switches)


def _mask_pictures(found: Sentences, kind: AttentionKind, row: int, switches: Switches) -> None:
    rows, columns = found.queries(kind, row), found.keys(kind, row)
    padding = found.codes(kind, row, Switches(causal=False, padding=switches.padding))
    left, middle, right = st.columns(3, gap="medium")
    with left:
        draw_plot(figures.mask_plot(padding, kind, rows, columns, "Padding mask"), "masks_padding_plot")
    with middle:
        if kind == "decoder":
            causal = found.codes(kind, row, Switches(causal=switches.causal, padding=False))
            draw_plot(figures.mask_plot(causal, kind, rows, columns, "Causal mask"), "masks_causal_plot")
        else:
            st.markdown("##### Causal mask")
            st.caption("None here: the source is all there from the start, so every row may look at all of it.")
    with right:
        both = found.codes(kind, row, switches)
        draw_plot(figures.mask_plot(both, kind, rows, columns, "Both together"), "masks_both_plot")


def _score_pictures(
    done: Reading, found: Sentences, kind: AttentionKind, layer: int, head: int, row: int, switches: Switches
) -> None:
    (kept,) = done.recorder.details[kind, layer, head]
    scores, masked, weights = (kept[name][row].numpy() for name in ("scores", "masked", "weights"))
    codes = found.codes(kind, row, switches)
    rows, columns = found.queries(kind, row), found.keys(kind, row)
    span = float(np.abs(scores).max()) or 1.0
    left, middle, right = st.columns(3, gap="medium")
    with left:
        plot = figures.score_plot(
            scores, codes, kind, rows, columns, "1. Scores before masking", masked=False, span=span
        )
        draw_plot(plot, "masks_scores")
    with middle:
        plot = figures.score_plot(masked, codes, kind, rows, columns, "2. After masking", masked=True, span=span)
        draw_plot(plot, "masks_masked")
    with right:
        draw_plot(figures.weight_plot(weights, codes, kind, rows, columns, "3. After softmax"), "masks_weights")
    pads, real = found.padded_keys(kind, row), ~found.padded_queries(kind, row)
    told = f"{KINDS[kind]}, layer {layer + 1}, head {head + 1}, in one run of the model with these masks. "
    if pads.any():
        share = 100 * float(weights[real][:, pads].sum(axis=1).mean())
        told += f"Real tokens give padding {share:.0f} % of their attention on average. "
    if kind == "decoder":
        future = float(np.triu(weights, k=1)[real].sum(axis=1).mean())
        told += f"They give {100 * future:.0f} % to what comes later."
    st.caption(told)


def draw_padding_tab(described: ModelDescription, shown: Translation) -> None:
    """Padding behind the current sentence, closed and open: what is said and with which probability."""
    target = described.target
    room = described.model_config.max_positions - len(shown.source.ids) - 1
    most = min(MAX_PADDING, room) if described.model_config.positions == "learned" else MAX_PADDING
    if most < 1:
        st.info("The sentence fills all positions that this model has; there is no room for padding.")
        return
    n = int(st.slider("Padding tokens behind the sentence", 0, most, min(4, most), key="masks_pads", bind=URL))
    version = runtime.fingerprint(shown.model)
    runs = {
        "no padding": _say(shown.model, version, shown.source.ids, 0, True),
        f"{n} padding tokens, closed": _say(shown.model, version, shown.source.ids, n, True),
        f"{n} padding tokens, open": _say(shown.model, version, shown.source.ids, n, False),
    }
    alone = runs["no padding"]
    columns: Columns = {
        "": list(runs),
        "translation": [target.decode(spoken.path) for spoken in runs.values()],
        "mean probability (%)": [round(100 * float(np.mean(spoken.probabilities)), 2) for spoken in runs.values()],
        "largest change (percentage points)": [round(100 * _change(alone, spoken), 5) for spoken in runs.values()],
    }
    draw_table(columns, "Translations without padding, with closed padding and with open padding")
    _, shut, opened = runs.values()
    same = opened.path == alone.path
    st.caption(
        plain(
            f"Closed padding changes nothing: no probability moved by more than {100 * _change(alone, shut):.4f} "
            f"percentage points. "
            + (
                f"Open, it is read like a word: the translation {'stays the same' if same else 'changes'}, "
                f"and probabilities move by up to {100 * _change(alone, opened):.1f} percentage points."
                if n
                else "Add padding to see what it does when it is open."
            )
        )
    )
    found = sentences(shown, target, companions(shown))
    if len(found.texts) > 1:
        _batch_with_open_padding(described, shown, found)


def _batch_with_open_padding(described: ModelDescription, shown: Translation, found: Sentences) -> None:
    """The padded batch: what each sentence gives to padding, and how sure the model still is of the right token."""
    st.markdown("##### The same for a padded batch, the targets given")
    head = ("encoder", 0, 0)
    closed = reading(shown, found, Switches(), head)  # type: ignore[arg-type]
    opened = reading(shown, found, Switches(padding=False), head)  # type: ignore[arg-type]
    columns: Columns = {
        "sentence": numbered(found.texts),
        "padding tokens": found.batch.src.eq(PAD).sum(dim=1).tolist(),
        "to padding, closed (%)": [],
        "to padding, open (%)": [],
        "right, closed (%)": [],
        "right, open (%)": [],
    }
    for row in range(len(found.texts)):
        pads = found.padded_keys("encoder", row)
        for name, run in (("closed", closed), ("open", opened)):
            weights = run.recorder.weights("encoder", row=row)[:, :, ~pads][..., pads]
            columns[f"to padding, {name} (%)"].append(round(100 * float(weights.sum(axis=-1).mean()), 1))
            columns[f"right, {name} (%)"].append(round(100 * right_share(run, found, row), 2))
    draw_table(columns, "Attention to padding and probability of the right token, with padding closed and open")
    worst = int(np.argmax(columns["to padding, open (%)"]))
    st.caption(
        plain(
            f"To padding: encoder self-attention, mean over layers, heads and real tokens. Right: the probability of "
            f"the right next token. Open, '{found.texts[worst]}' gives "
            f"padding {columns['to padding, open (%)'][worst]:.0f} %; which sentences stand beside it in the "
            f"batch would then change its translation."
        )
    )


def _change(one_run: Spoken, other: Spoken) -> float:
    """The largest difference of a probability up to where the two paths part."""
    pairs = zip(one_run.path, other.path, one_run.probabilities, other.probabilities, strict=False)
    largest = 0.0
    for first, second, p, q in pairs:
        largest = max(largest, abs(p - q))
        if first != second:
            break
    return largest


@st.cache_resource(max_entries=128, show_spinner=False)
def _say(name: str, version: str, ids: tuple[int, ...], padding: int, closed: bool) -> Spoken:
    del version  # part of the key only
    with runtime.model(name) as translator:
        return say(translator.loaded.transformer, (*ids, EOS), padding=padding, closed=closed)
