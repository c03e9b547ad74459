"""The Probe page's Cross-checks tab: weights beside norms and zeroed values, other rows, source against prefix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import streamlit as st

from explorer.charts.measured_heads import head_plot, source_share_plot
from explorer.decoding.aggregates import shares
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import InputError, Translation
from explorer.locale.text import percent, plain, quoted
from explorer.probing import cross_checks, map_agreement, source_counts
from explorer.probing.cross_checks import agreement, kept_shares
from explorer.probing.report import Section
from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.probing.syntax import targets_of
from explorer.probing.word_classes import classes_of, languages
from explorer.screens.probe.grammar import grammar_of
from explorer.screens.probe.progress import measurement_key
from explorer.web import page_parts, runtime, session
from explorer.web.figures import draw_table
from explorer.web.long_work import asked, known, with_progress
from explorer.web.measurements import store
from model.analysis.cross_checks import value_zeroing
from model.analysis.source_share import SourceShareError, source_shares
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, EOS, SOS, AttentionKind, DecodeConfig

_TITLES = {
    "Does the word need this row?": "counterfactual rows",
    "Is the key with the largest weight the one that is missed?": "zeroed values",
    "Source or prefix?": "source shares",
}


class _Counted(Protocol):
    def rows(self) -> list[dict[str, Any]]: ...

    def caption(self) -> str: ...


def draw_cross_checks(described: ModelDescription, text: str, measured: Measured | None) -> None:
    """Draw the maps of one sentence and where its words come from, then the counts over the sample."""
    try:
        shown = runtime.translate(described.name, text, DecodeConfig())
    except InputError as nothing:
        st.info(plain(str(nothing)))
        return
    st.markdown("##### One sentence: what is looked at, what arrives, what is missed")
    _draw_maps(described, shown)
    st.markdown("##### One sentence: from the source, or from the words before?")
    _draw_source_shares(described, shown)
    if measured is None:
        st.caption("There is no sample to count on yet.")
        return
    _draw_counts(described, measured)


def _draw_counts(described: ModelDescription, measured: Measured) -> None:
    """What the checks say over the sample, each only when asked for."""
    data = described.data_config
    classes = _classes(described, measured)
    st.markdown("##### The sample: does the word need this row?")
    st.caption(
        "In every head of cross-attention, the row of one prediction is replaced: by equal weights, by its own weights "
        "on other words, or without its largest weight. If the predicted word stays, it did not rest on where the row "
        "looked."
    )
    _count(
        described,
        measured,
        ("counterfactual rows", "Put other rows in place", cross_checks.SENTENCES),
        lambda loaded, report: kept_shares(loaded, measured.sample, classes, report),
    )
    if data.tokenizer != "characters" and classes is None:
        st.caption(
            plain(
                f"Function and content words can be told apart in {languages()}, and parts of speech with a trained "
                f"spaCy pipeline; this model writes '{data.tgt_lang}'."
            )
        )
    st.markdown("##### The sample: is the key with the largest weight the one that is missed?")
    st.caption(
        "The value of one key after the other is set to zero, and the change of the layer's output is compared with "
        "the weights (their mean over the heads) and with the norms of what arrives."
    )
    _count(
        described,
        measured,
        ("zeroed values", "Set values to zero", map_agreement.SENTENCES),
        lambda loaded, report: map_agreement.map_agreement(loaded, measured.sample, report),
    )
    st.markdown("##### The sample: source or prefix?")
    st.caption(
        "Each layer's attention is taken apart exactly into what it mixes, and the parts are followed from layer to "
        "layer (ALTI+, Ferrando et al. 2022)."
    )
    _count(
        described,
        measured,
        ("source shares", "Divide predictions", source_counts.SENTENCES),
        lambda loaded, report: source_counts.source_counts(loaded, measured.sample, classes, report),
    )


def known_checks(described: ModelDescription, measured: Measured) -> list[Section]:
    """The counts that have been made on this sample, for the report."""
    sections = []
    for title, name in _TITLES.items():
        found: _Counted | None = known(measurement_key(described, measured.choice, name))
        if found is not None:
            sections.append(Section(title, found.rows(), found.caption()))
    return sections


def _classes(described: ModelDescription, measured: Measured) -> Sequence[Sequence[str]] | None:
    """Parts of speech of the target words where a pipeline is installed, else function and content words, else None."""
    data = described.data_config
    parsed = grammar_of(described, measured, "target")
    if parsed is not None:
        return [sentence.tags for sentence in parsed]
    if data.tokenizer == "characters":
        return None
    return classes_of(targets_of(measured.sample, described.target), data.tgt_lang)


def _count(
    described: ModelDescription,
    measured: Measured,
    about: tuple[str, str, int],
    make: Callable[[LoadedModel, Report], _Counted],
) -> None:
    """One count over the sample, made when somebody asks for it: a table and what it says."""
    name, label, most = about
    key = measurement_key(described, measured.choice, name)
    if known(key) is None and not asked(key, f"{label} in {min(most, len(measured.sample))} sentences"):
        return
    try:
        found = with_progress(key, partial(runtime.compute_in_parts, described.name, make), label)
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
        return
    if found is not None:
        draw_table(found.rows(), found.caption(), file=name.replace(" ", "-"))
        st.caption(plain(found.caption()))


def _draw_maps(described: ModelDescription, shown: Translation) -> None:
    selection, left = session.selection(), st.columns(2)
    kind: AttentionKind = left[0].segmented_control(
        "Kind", list(ATTENTION_KINDS), default=selection.kind, required=True, key="checks_kind"
    )
    n_layers = described.model_config.n_layers(kind)
    layer = left[1].selectbox("Layer", range(n_layers), format_func=lambda i: f"L{i + 1}", key=f"checks_layer_{kind}")
    try:
        trace, (_, norms) = shown.trace, runtime.norms(shown, kind)
    except runtime.NotTheModels as missing:
        st.info(plain(str(missing)))
        return
    key = (f"value zeroing {kind} {layer}", described.name, runtime.fingerprint(described.name), shown.seq)

    def make() -> np.ndarray:
        with runtime.model(described.name) as translator:
            return value_zeroing(translator.loaded.transformer, *_read(shown), kind, layer)

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


def _draw_source_shares(described: ModelDescription, shown: Translation) -> None:
    key = ("source shares", described.name, runtime.fingerprint(described.name), shown.seq)

    def make() -> np.ndarray:
        with runtime.model(described.name) as translator:
            return source_shares(translator.loaded.transformer, *_read(shown))

    try:
        found = store().quick(key, make)
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
        return
    words = shown.trace.predicted_tokens
    on_end = shown.trace.cross[..., -1].mean(axis=(0, 1))
    least, most = int(found.argmin()), int(found.argmax())
    caption = (
        f"{percent(float(found.mean()))} of these predictions come from the source on average, most of "
        f"{quoted(words[most])} ({percent(float(found[most]))}), least of {quoted(words[least])} "
        f"({percent(float(found[least]))}); the rest comes from the words before. Beside it the weight that "
        f"cross-attention puts on <eos>, a mean over its heads. (ALTI+, Ferrando et al. 2022.)"
    )
    page_parts.draw_plot(source_share_plot(found, on_end, words, caption), "checks_source")


def _read(shown: Translation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the encoder and the decoder read in a translation."""
    return (*shown.source.ids, EOS), (SOS, *shown.path[:-1])
