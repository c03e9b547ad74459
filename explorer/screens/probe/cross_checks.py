"""The part Cross-checks of the Probe page: weights beside other measures of what a prediction rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from explorer.decoding.translator import Translation
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.probing.cross_checks import (
    SENTENCES,
    Classes,
    KeptShares,
    MapAgreement,
    kept_shares,
    map_agreement,
    sentence_maps,
)
from explorer.probing.measured import Measured
from explorer.probing.report import Section
from explorer.probing.reporting import Report
from explorer.probing.syntax import languages, target_classes
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.words import grammar_of
from explorer.web import runtime, session
from explorer.web.figures import draw_map, draw_table
from explorer.web.page_parts import URL
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel


def draw_cross_checks(subject: Subject, measured: Measured | None) -> None:
    """Draw the maps of one sentence, and the counts over the sample."""
    translation = subject.translation()
    if translation is None:
        return
    st.markdown(t("##### One sentence: what is looked at, what arrives, what is missed"))
    _draw_maps(subject, translation)
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
        label_visibility="collapsed",
    )
    layers = range(subject.model.model_config.n_layers(kind))
    layer = right.selectbox(
        t("Layer"),
        layers,
        format_func=lambda i: t("Layer {layer}", layer=i + 1),
        key=f"checks_layer_{kind}",
        label_visibility="collapsed",
    )
    try:
        _, norms = runtime.norms(translation, kind)
    except runtime.NotTheModels as missing:
        st.info(plain(str(missing)))
        return
    (concluded, *rows), maps = subject.compute(
        f"maps {kind} {layer} {translation.seq}",
        lambda loaded: sentence_maps(loaded, translation, kind, layer, norms[layer]),
    )
    st.markdown(f"**{plain(concluded)}** {plain(' '.join(rows))}")
    grid = [item for item, _ in maps]
    for nth, ((item, caption), column) in enumerate(zip(maps, st.columns(len(maps)), strict=True)):
        with column:
            draw_map(item, key=f"checks_map_{nth}", prefix=caption, grid=grid)


class _Check(NamedTuple):
    """A count over the sample: the key of its result, its texts (`ask` is the button's), and the work, by a seed."""

    what: str
    title: str
    explanation: str
    ask: str
    work: Callable[[LoadedModel, Sample, Classes, Report, int, int], KeptShares | MapAgreement]
    has_seed: bool

    @property
    def of_all(self) -> str:
        """The key of its result over all sentences."""
        return f"{self.what} of all"

    @property
    def file(self) -> str:
        """The name of its table's file."""
        return self.what.replace(" ", "-")


def _checks(size: int, *, has_encoder: bool) -> tuple[_Check, ...]:
    """The two counts over a sample of `size` sentences."""
    where = t("In every head of cross-attention") if has_encoder else t("In every head")
    return (
        _Check(
            "counterfactual rows",
            t("Does the token need this row?"),
            t(
                "{where}, the row of one prediction is replaced: by equal weights (uniform), by its own weights on "
                "other tokens (shuffled), or by those that remain without the largest one (largest removed).",
                where=where,
            ),
            t("Put other rows in place in {n} sentences", n=min(SENTENCES, size)),
            lambda *given: kept_shares(*given[:-1], seed=given[-1]),
            True,
        ),
        _Check(
            "zeroed values",
            t("Is the key with the largest weight the one that is missed?"),
            t(
                "The value of one key after the other is set to zero, and the change of the layer's output is compared "
                "with the weights (their mean over the heads) and with the norms of the weighted values."
            ),
            t("Set values to zero in {n} sentences", n=min(SENTENCES, size)),
            lambda loaded, sample, _, report, most, __: map_agreement(loaded, sample, report, most),
            False,
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
    """Draw one count over the sample, a table and a sentence about it, and the button that counts over all of it."""

    def counted(what: str, label: str, most: int) -> KeptShares | MapAgreement | None:
        return subject.measure(
            what, label, lambda loaded, report: check.work(loaded, sample, classes, report, most, seed)
        )

    label = t("Seed of the shuffled orders")
    seed = st.number_input(label, 0, 999, key="checks_seed", bind=URL, width=220) if check.has_seed else 0
    first, of_all = (f"{what} {seed}" if seed else what for what in (check.what, check.of_all))
    count, place = counted(first, check.ask, SENTENCES), st.container()
    more = t("Count over all {n} sentences", n=len(sample))
    if count is not None and len(sample) > SENTENCES and subject.asked(of_all, more):
        count = counted(of_all, more, len(sample)) or count
    if count is None:
        return
    with place:
        if isinstance(count, KeptShares):
            st.markdown(f"**{plain(count.verdict())}**")
        draw_table(count.rows(), count.caption(), file=check.file)
        st.caption(plain(count.caption()))


def measured_checks(subject: Subject, measured: Measured) -> list[Section]:
    """The counts that have been made on this sample, for the report."""
    checks = _checks(len(measured.sample), has_encoder=subject.model.model_config.has_encoder)
    counts = [(check, subject.find(check.of_all) or subject.find(check.what)) for check in checks]
    return [Section(of.title, count.rows(), count.caption(), of.file) for of, count in counts if count is not None]
