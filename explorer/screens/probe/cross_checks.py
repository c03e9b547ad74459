"""The part Cross-checks of the Probe page: weights beside other measures of what a prediction rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from explorer.charts.measured_heads import source_share_plot
from explorer.decoding.translator import Translation
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.probing.cross_checks import (
    SENTENCES,
    Classes,
    KeptShares,
    kept_shares,
    map_agreement,
    sentence_maps,
    sentence_sources,
)
from explorer.probing.measured import Measured
from explorer.probing.report import Section
from explorer.probing.reporting import Report
from explorer.probing.source_counts import DIVIDED, Count, source_counts
from explorer.probing.syntax import languages, target_classes
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.words import grammar_of
from explorer.web import page_parts, runtime, session
from explorer.web.figures import draw_map, draw_table
from model.analysis.recorded_batches import Sample
from model.analysis.source_share import SourceShareError
from model.checkpoint import LoadedModel


def draw_cross_checks(subject: Subject, measured: Measured | None) -> None:
    """Draw the maps of one sentence, the source's share in its predictions, and the counts over the sample."""
    translation = subject.translation()
    if translation is None:
        return
    st.markdown(t("##### One sentence: what is looked at, what arrives, what is missed"))
    _draw_maps(subject, translation)
    has_encoder = subject.model.model_config.has_encoder
    st.markdown(
        t("##### One sentence: from the source, or from the words before?")
        if has_encoder
        else t("##### One sentence: from the prompt, or from the words since?")
    )
    try:
        sources = subject.compute(
            f"source shares {translation.seq}", lambda loaded: sentence_sources(loaded, translation)
        )
        page_parts.draw_plot(source_share_plot(sources), "checks_source")
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
    if measured is None:
        st.caption(t("There is no sample to count over yet."))
        return
    _draw_counts(subject, measured)


def _draw_maps(subject: Subject, translation: Translation) -> None:
    left, right = st.columns(2)
    kinds, kind = subject.model.model_config.kinds, session.selection().kind
    kind = left.segmented_control(
        t("Kind"),
        list(kinds),
        format_func=translated,
        default=kind if kind in kinds else kinds[-1],
        required=True,
        key="checks_kind",
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
        lambda loaded: sentence_maps(loaded, translation, kind, layer, norms[layer]),
    )
    columns = (*st.columns(2), *st.columns(2))  # of the width of a map with numbers
    for nth, ((item, caption), column) in enumerate(zip(maps, columns, strict=False)):
        with column:
            draw_map(item, key=f"checks_map_{nth}", prefix=caption)


class _Check(NamedTuple):
    """A count over the sample: the key of its result, its texts (`ask` is the button's), and the work."""

    what: str
    title: str
    explanation: str
    ask: str
    work: Callable[[LoadedModel, Sample, Classes, Report], Count]


def _checks(size: int, *, has_encoder: bool) -> tuple[_Check, ...]:
    """The three counts over a sample of `size` sentences."""
    where = t("In every head of cross-attention") if has_encoder else t("In every head")
    return (
        _Check(
            "counterfactual rows",
            t("Does the word need this row?"),
            t(
                "{where}, the row of one prediction is replaced: by equal weights, by its own weights on other words, "
                "or without its largest weight. A word changes if another is then the likeliest.",
                where=where,
            ),
            t("Put other rows in place in {n} sentences", n=min(SENTENCES, size)),
            kept_shares,
        ),
        _Check(
            "zeroed values",
            t("Is the key with the largest weight the one that is missed?"),
            t(
                "The value of one key after the other is set to zero, and the change of the layer's output is compared "
                "with the weights (their mean over the heads) and with the norms of the weighted values."
            ),
            t("Set values to zero in {n} sentences", n=min(SENTENCES, size)),
            lambda loaded, sample, _, report: map_agreement(loaded, sample, report),
        ),
        _Check(
            "source shares",
            t("Source or prefix?") if has_encoder else t("Prompt or continuation?"),
            t(
                "Each layer's attention is split exactly into the contributions of its inputs, which are followed from "
                "layer to layer (ALTI and ALTI+, Ferrando et al. 2022)."
            ),
            t("Divide predictions in {n} sentences", n=min(DIVIDED, size)),
            source_counts,
        ),
    )


def _draw_counts(subject: Subject, measured: Measured) -> None:
    """Draw the counts over the sample, each once its button has been pressed."""
    data, sample = subject.model.data_config, measured.sample
    has_encoder = subject.model.model_config.has_encoder
    parsed = grammar_of(subject, measured, "target") if has_encoder else None
    classes = [sentence.tags for sentence in parsed] if parsed else target_classes(data, subject.model.target, sample)
    st.markdown(t("##### Over the sample"))
    if has_encoder and data.tokenizer != "characters" and classes is None:
        st.caption(
            plain(
                t(
                    "Function and content words can be told apart in {languages}, and parts of speech with a trained "
                    "spaCy pipeline; this model writes “{language}”.",
                    languages=languages(),
                    language=data.tgt_lang,
                )
            )
        )
    for check in _checks(len(sample), has_encoder=has_encoder):
        st.markdown(f"###### {check.title}")
        st.caption(check.explanation)
        if subject.asked(check.what, check.ask):
            _draw_count(subject, check, sample, classes)


def _draw_count(subject: Subject, check: _Check, sample: Sample, classes: Classes) -> None:
    """Draw one count over the sample: a table and a sentence about it."""
    try:
        count = subject.measure(
            check.what, check.ask, lambda loaded, report: check.work(loaded, sample, classes, report)
        )
    except SourceShareError as unfit:
        st.info(plain(str(unfit)))
        return
    if count is not None:
        if isinstance(count, KeptShares):
            st.markdown(f"**{plain(count.verdict())}**")
        draw_table(count.rows(), count.caption(), file=check.what.replace(" ", "-"))
        st.caption(plain(count.caption()))


def measured_checks(subject: Subject, measured: Measured) -> list[Section]:
    """The counts that have been made on this sample, for the report."""
    checks = _checks(len(measured.sample), has_encoder=subject.model.model_config.has_encoder)
    counts = [(check.title, subject.find(check.what)) for check in checks]
    return [Section(title, count.rows(), count.caption()) for title, count in counts if count is not None]
