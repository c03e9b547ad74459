"""The Probe page's Grammar tab: attention by part of speech and by dependency relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from explorer.decoding.model_description import ModelDescription
from explorer.locale.text import listed, plain
from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.probing.syntax import PIPELINES, Parsed, by_relation, by_tag, load_pipeline, parse, targets_of
from explorer.probing.syntax_tables import relation_rows, relation_sentence, tag_rows, tag_sentence
from explorer.probing.word_classes import classes_of, languages
from explorer.screens.probe.progress import measurement_key, observations
from explorer.web import runtime
from explorer.web.figures import draw_table
from explorer.web.long_work import with_progress
from explorer.web.page_parts import URL
from model.analysis.recorded_batches import Observed
from model.config import AttentionKind

Side = Literal["source", "target"]


def grammar_of(described: ModelDescription, measured: Measured, side: Side = "source") -> list[Parsed] | None:
    """The sample's sentences of one side, parsed; None if no pipeline is installed or the work was stopped."""
    data = described.data_config
    if data.tokenizer == "characters":
        return None
    nlp = _pipeline(data.src_lang if side == "source" else data.tgt_lang)
    if nlp is None:
        return None

    def make(report: Report) -> list[Parsed]:
        report(0.0, f"Parsing the {side} sentences")
        sample = measured.sample
        return parse(nlp, sample.sources if side == "source" else targets_of(sample, described.target))

    key = measurement_key(described, measured.choice, f"grammar of the {side}")
    return with_progress(key, make, f"Parsing the {side} sentences")


@st.cache_resource(max_entries=4, show_spinner=False)
def _pipeline(lang: str) -> Any:
    nlp = load_pipeline(lang)
    runtime.freeze()
    return nlp


def draw_grammar(described: ModelDescription, measured: Measured) -> None:
    """Draw both tables; without a parser, the weight on function and content words, and what to install."""
    lang = described.data_config.src_lang
    if described.data_config.tokenizer == "characters":
        st.info("This model reads letters, not words: there is no grammar to look for.")
        return
    if lang not in PIPELINES or _pipeline(lang) is None:
        _draw_without_pipeline(described, measured)
        return
    grammar = grammar_of(described, measured)
    if grammar is None:
        return
    observed = observations(described, measured)
    if observed is None:
        return
    _draw_tags(observed, grammar, "##### Weight by part of speech of the key")
    st.markdown("##### From a word to the word that it depends on (encoder)")
    relations = by_relation(observed, grammar)
    draw_table(relation_rows(relations), "How often a head finds the word that another depends on", file="relations")
    st.caption(plain(relation_sentence(relations)))


def _draw_without_pipeline(described: ModelDescription, measured: Measured) -> None:
    """What can be said without a parser: function words, content words and punctuation, by closed lists."""
    lang = described.data_config.src_lang
    install = (
        f"With a trained spaCy pipeline this tab also shows parts of speech and dependencies. Install it once, then "
        f"restart the app: python -m spacy download {PIPELINES[lang]}"
        if lang in PIPELINES
        else f"Sentences can be parsed for the source languages {listed(sorted(PIPELINES))}; this model reads '{lang}'."
    )
    classes = classes_of(measured.sample.sources, lang)
    if classes is None:
        st.info(plain(f"{install} Function and content words are told apart in {languages()}."))
        return
    observed = observations(described, measured)
    if observed is None:
        return
    parsed = [Parsed((*words, ""), ("",) * (len(words) + 1), (-1,) * (len(words) + 1)) for words in classes]
    _draw_tags(observed, parsed, "##### Weight on function words, content words and punctuation")
    st.caption(plain(f"By a closed list of function words ('{lang}'). {install}"))


def _draw_tags(observed: Sequence[Observed], parsed: Sequence[Parsed], title: str) -> None:
    kind: AttentionKind = st.segmented_control(
        "Kind", ["encoder", "cross"], default="encoder", required=True, key="grammar_kind", bind=URL
    )
    st.markdown(title)
    tags = by_tag(observed, parsed, kind)
    draw_table(tag_rows(tags), "Weight on each kind of word", file="kinds-of-words")
    st.caption(plain(tag_sentence(tags)))
