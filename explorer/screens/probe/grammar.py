"""The Probe page's Grammar tab: attention by part of speech and by dependency relation."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from explorer.probing.reporting import Report
from explorer.probing.sample import Measured
from explorer.probing.syntax import PIPELINES, Parsed, by_relation, by_tag, load_pipeline, parse, targets_of
from explorer.probing.syntax_tables import relation_rows, relation_sentence, tag_rows, tag_sentence
from explorer.screens.probe.progress import measurement_key, observations, with_progress
from explorer.text import listed, plain
from explorer.translation.model_description import ModelDescription
from explorer.web import runtime
from explorer.web.page_parts import URL
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
    """Draw both tables, or say what to install."""
    lang = described.data_config.src_lang
    if described.data_config.tokenizer == "characters":
        st.info("This model reads letters, not words: there is no grammar to look for.")
        return
    if lang not in PIPELINES:
        known = listed(sorted(PIPELINES))
        st.info(plain(f"Sentences can be parsed for the source languages {known}; this model reads '{lang}'."))
        return
    if _pipeline(lang) is None:
        st.info(
            plain(
                f"Parsing needs a trained spaCy pipeline, which is not installed. Install it once, then restart the "
                f"app: python -m spacy download {PIPELINES[lang]}"
            )
        )
        return
    grammar = grammar_of(described, measured)
    if grammar is None:
        return
    observed = observations(described, measured)
    if observed is None:
        return
    kind: AttentionKind = st.segmented_control(
        "Kind", ["encoder", "cross"], default="encoder", required=True, key="grammar_kind", bind=URL
    )
    st.markdown("##### Weight by part of speech of the key")
    tags = by_tag(observed, grammar, kind)
    st.dataframe(tag_rows(tags), hide_index=True, alt="Weight on each part of speech")
    st.caption(plain(tag_sentence(tags)))
    st.markdown("##### From a word to the word that it depends on (encoder)")
    relations = by_relation(observed, grammar)
    st.dataframe(
        relation_rows(relations), hide_index=True, alt="How often a head finds the word that another depends on"
    )
    st.caption(plain(relation_sentence(relations)))
