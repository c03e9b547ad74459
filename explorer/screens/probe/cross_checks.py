"""The Probe page's Cross-checks tab: weights beside norms and zeroed values, and predictions under other rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from explorer.attention.aggregates import shares
from explorer.figures.measured_heads import head_plot
from explorer.probing.cross_checks import SENTENCES, KeptShares, agreement, kept_shares
from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.screens.probe.grammar import grammar_of
from explorer.screens.probe.progress import asked, known, measurement_key, with_progress
from explorer.text import plain
from explorer.translation.model_description import ModelDescription
from explorer.translation.translator import InputError
from explorer.web import page_parts, runtime, session
from explorer.web.measurements import store
from model.analysis.cross_checks import value_zeroing
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, EOS, SOS, AttentionKind, DecodeConfig

_LABEL = "Putting other rows in place"


def draw_cross_checks(described: ModelDescription, text: str, measured: Measured | None) -> None:
    """Draw the maps of one sentence, then the counts over the sample."""
    st.markdown("##### One sentence: what is looked at, what arrives, what is missed")
    _draw_sentence(described, text)
    st.markdown("##### The sample: does the word need this row?")
    st.caption(
        "In every head of cross-attention, the row of one prediction is replaced: by equal weights, by its own weights "
        "on other words, or without its largest weight. If the predicted word stays, it did not rest on where the row "
        "looked."
    )
    if measured is None:
        st.caption("There is no sample to count on yet.")
        return
    key = measurement_key(described, measured.choice, "counterfactual rows")
    if known(key) is None and not asked(key, f"Count over {SENTENCES} sentences"):
        return
    parsed = grammar_of(described, measured, "target")
    tags = None if parsed is None else [sentence.tags for sentence in parsed]

    def make(loaded: LoadedModel, report: Report) -> KeptShares:
        return kept_shares(loaded, measured.sample, tags, report)

    found = with_progress(key, partial(runtime.compute_in_parts, described.name, make), _LABEL)
    if found is None:
        return
    st.dataframe(found.rows(), hide_index=True, alt="Share of predictions that stay under each counterfactual row")
    st.caption(plain(found.caption()))
    if tags is None:
        st.caption("To count by part of speech, install a trained spaCy pipeline for the target language.")


def _draw_sentence(described: ModelDescription, text: str) -> None:
    try:
        shown = runtime.translate(described.name, text, DecodeConfig())
    except InputError as nothing:
        st.info(plain(str(nothing)))
        return
    selection, left = session.selection(), st.columns(2)
    kind: AttentionKind = left[0].segmented_control(
        "Kind", list(ATTENTION_KINDS), default=selection.kind, required=True, key="checks_kind"
    )
    n_layers = described.model_config.n_layers(kind)
    layer = left[1].selectbox("Layer", range(n_layers), format_func=lambda i: f"L{i + 1}", key=f"checks_layer_{kind}")
    trace, (_, norms) = shown.trace, runtime.norms(shown, kind)
    key = (f"value zeroing {kind} {layer}", described.name, runtime.fingerprint(described.name), shown.seq)

    def make() -> np.ndarray:
        with runtime.model(described.name) as translator:
            src, read = (*shown.source.ids, EOS), (SOS, *shown.path[:-1])
            return value_zeroing(translator.loaded.transformer, src, read, kind, layer)

    weights = trace.weights(kind)[layer].mean(axis=0)
    zeroed = store().quick(key, make).astype(np.float32)
    arriving = shares(norms[layer])
    rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
    columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
    maps = {
        "Weights": (weights, "Mean over the heads of the layer."),
        "Weighted by norms": (
            arriving,
            f"‖Σ α f(x)‖ of all heads (Kobayashi et al. 2020): {agreement(weights, arriving)}.",
        ),
        "Values set to zero": (
            zeroed,
            f"Change of the layer's output without a key's value (Mohebbi et al. 2023): {agreement(weights, zeroed)}.",
        ),
    }
    for (title, (values, caption)), column in zip(maps.items(), st.columns(len(maps)), strict=True):
        with column:
            st.markdown(f"**{plain(title)}**")
            plot = head_plot(values, trace.mask(kind), rows, columns, kind=kind, caption=caption)
            page_parts.draw_plot(plot, f"checks_{title}")
