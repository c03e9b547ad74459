"""The Probe page's tabs Cross-checks (weights beside other measures) and Patching (a vector of another sentence)."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import streamlit as st

from explorer.charts.measured_heads import head_plot, patch_plot, source_share_plot
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.probing.cross_checks import (
    DIVIDED,
    SENTENCES,
    Count,
    kept_shares,
    map_agreement,
    sentence_maps,
    sentence_sources,
    source_counts,
)
from explorer.probing.measured import Measured
from explorer.probing.patching import patched
from explorer.probing.report import Section
from explorer.probing.reporting import Report
from explorer.probing.syntax import languages, target_classes
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.words import grammar_of
from explorer.web import page_parts, runtime, session
from explorer.web.figures import draw_table
from model.analysis.patching import PatchError, Stack
from model.analysis.source_share import SourceShareError
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, AttentionKind, DecodeConfig

MOST_LETTERS = 400  # of the other sentence
_ROWS, _VALUES, _SOURCES = "counterfactual rows", "zeroed values", "source shares"


def draw_cross_checks(subject: Subject, measured: Measured | None) -> None:
    """Draw the maps of one sentence and where its words come from, then the counts over the sample."""
    translation = _translation(subject)
    if translation is None:
        return
    st.markdown(t("##### One sentence: what is looked at, what arrives, what is missed"))
    _draw_maps(subject, translation)
    st.markdown(t("##### One sentence: from the source, or from the words before?"))
    try:
        sources = subject.compute(
            f"source shares {translation.seq}", lambda translator: sentence_sources(translator, translation)
        )
        page_parts.draw_plot(source_share_plot(sources), "checks_source")
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
    if measured is None:
        st.caption(t("There is no sample to count on yet."))
        return
    _draw_counts(subject, measured)


def _translation(subject: Subject) -> Translation | None:
    """The model's own translation of the sentence; None after a message."""
    try:
        return runtime.translate(subject.name, subject.text, DecodeConfig())
    except InputError as nothing:
        st.info(plain(str(nothing)))
        return None


def _draw_maps(subject: Subject, translation: Translation) -> None:
    left, right = st.columns(2)
    kind: AttentionKind = left.segmented_control(
        t("Kind"), list(ATTENTION_KINDS), default=session.selection().kind, required=True, key="checks_kind"
    )
    layers = range(subject.model.model_config.n_layers(kind))
    layer = right.selectbox(t("Layer"), layers, format_func=lambda i: f"L{i + 1}", key=f"checks_layer_{kind}")
    try:
        _, norms = runtime.norms(translation, kind)
    except runtime.NotTheModels as missing:
        st.info(plain(str(missing)))
        return
    maps = subject.compute(
        f"maps {kind} {layer} {translation.seq}",
        lambda translator: sentence_maps(translator, translation, kind, layer, norms[layer]),
    )
    for item, column in zip(maps, st.columns(len(maps)), strict=True):
        with column:
            st.markdown(f"**{plain(item.title)}**")
            plot = head_plot(translation.trace, item.values, kind=kind, caption=item.caption)
            page_parts.draw_plot(plot, f"checks_{item.title}")


def _draw_counts(subject: Subject, measured: Measured) -> None:
    """What the checks say over the sample, each only when asked for."""
    data, sample = subject.model.data_config, measured.sample
    parsed = grammar_of(subject, measured, "target")
    classes = [sentence.tags for sentence in parsed] if parsed else target_classes(data, subject.model.target, sample)
    st.markdown(t("##### The sample: does the word need this row?"))
    st.caption(
        t(
            "In every head of cross-attention, the row of one prediction is replaced: by equal weights, by its own "
            "weights on other words, or without its largest weight. If the predicted word stays, it did not rest on "
            "where the row looked."
        )
    )
    n = min(SENTENCES, len(sample))
    label = t("Put other rows in place in {n} sentences", n=n)
    _draw_count(
        subject,
        _ROWS,
        label,
        t("Put other rows in place"),
        lambda loaded, report: kept_shares(loaded, sample, classes, report),
    )
    if data.tokenizer != "characters" and classes is None:
        st.caption(
            plain(
                t(
                    "Function and content words can be told apart in {languages}, and parts of speech with a trained "
                    "spaCy pipeline; this model writes '{language}'.",
                    languages=languages(),
                    language=data.tgt_lang,
                )
            )
        )
    st.markdown(t("##### The sample: is the key with the largest weight the one that is missed?"))
    st.caption(
        t(
            "The value of one key after the other is set to zero, and the change of the layer's output is compared "
            "with the weights (their mean over the heads) and with the norms of what arrives."
        )
    )
    label = t("Set values to zero in {n} sentences", n=n)
    _draw_count(
        subject,
        _VALUES,
        label,
        t("Set values to zero"),
        lambda loaded, report: map_agreement(loaded, sample, report),
    )
    st.markdown(t("##### The sample: source or prefix?"))
    st.caption(
        t(
            "Each layer's attention is taken apart exactly into what it mixes, and the parts are followed from layer "
            "to layer (ALTI+, Ferrando et al. 2022)."
        )
    )
    label = t("Divide predictions in {n} sentences", n=min(DIVIDED, len(sample)))
    _draw_count(
        subject,
        _SOURCES,
        label,
        t("Divide predictions"),
        lambda loaded, report: source_counts(loaded, sample, classes, report),
    )


def _draw_count(
    subject: Subject, what: str, ask: str, label: str, work: Callable[[LoadedModel, Report], Count]
) -> None:
    """One count over the sample, made when somebody asks for it: a table and what it says."""
    if not subject.asked(what, ask):
        return
    try:
        count = subject.measure(what, label, work)
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
        return
    if count is not None:
        draw_table(count.rows(), count.caption(), file=what.replace(" ", "-"))
        st.caption(plain(count.caption()))


def known_checks(subject: Subject) -> list[Section]:
    """The counts that have been made on this sample, for the report."""
    titles = {
        _ROWS: t("Does the word need this row?"),
        _VALUES: t("Is the key with the largest weight the one that is missed?"),
        _SOURCES: t("Source or prefix?"),
    }
    counts: dict[str, Count | None] = {title: subject.known(what) for what, title in titles.items()}
    return [Section(title, count.rows(), count.caption()) for title, count in counts.items() if count is not None]


def draw_patching(subject: Subject) -> None:
    """Draw the field for the other sentence, the row to watch, and both grids."""
    translation = _translation(subject)
    if translation is None:
        return
    st.caption(
        t(
            "Type a sentence that differs in a word and has as many tokens. Each cell shows what happens to the "
            "prediction if the one vector there comes from that sentence and all else stays: where the difference is "
            "carried, the prediction changes."
        )
    )
    left, right = st.columns([3, 2])
    other = left.text_input(
        t("The other sentence"), value=subject.text, key="patching_other", max_chars=MOST_LETTERS
    ).strip()
    row: int = right.selectbox(
        t("The prediction to watch"),
        range(len(translation.path)),
        index=min(max(session.selection().step or 1, 1), len(translation.path)) - 1,
        format_func=lambda row: f"{row + 1} {translation.trace.predicted_tokens[row]}",
        key=f"patching_row_{translation.seq}",
    )
    try:
        grids = subject.compute(
            f"patching {row} {other} {translation.seq}",
            lambda translator: patched(translator, translation, other, row),
        )
    except (PatchError, InputError) as unfit:
        st.info(plain(str(unfit)))
        return
    stacks: tuple[Stack, ...] = get_args(Stack)
    for stack, column in zip(stacks, st.columns(len(stacks)), strict=True):
        with column:
            page_parts.draw_plot(patch_plot(grids, stack), f"patching_{stack}")
