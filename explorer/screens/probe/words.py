"""Two parts of the Probe page's tab One head: Grammar (attention by kind of word) and Search (by a pair of words)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from explorer.locale.messages import t, translated
from explorer.locale.text import listed, plain
from explorer.probing.measured import Measured
from explorer.probing.reporting import Report
from explorer.probing.sample import targets_of
from explorer.probing.search import RowLabel, best_hit_sentence, hit_rows, no_hit_sentence, search
from explorer.probing.syntax import (
    PIPELINES,
    Parsed,
    by_relation,
    by_tag,
    classes_of,
    head_tag_rows,
    languages,
    load_pipeline,
    parse,
    relation_rows,
    relation_sentence,
    tag_rows,
    tag_sentence,
)
from explorer.screens.probe.sample_choice import Subject
from explorer.web import bound, long_work
from explorer.web.figures import draw_table
from explorer.web.page_parts import URL
from model.analysis.recorded_batches import Observed
from model.points import Head

_SENTENCE = 330  # pixels of a sentence in the table of hits; a click shows the whole


def grammar_of(
    subject: Subject, measured: Measured, side: Literal["source", "target"] = "source"
) -> list[Parsed] | None:
    """The sample's sentences of one side, parsed; None if no pipeline is installed or the work was stopped."""
    data, sample = subject.model.data_config, measured.sample
    nlp = None if data.tokenizer == "characters" else _pipeline(data.src_lang if side == "source" else data.tgt_lang)
    if nlp is None:
        return None
    label = t("Parsing the source sentences") if side == "source" else t("Parsing the target sentences")

    def make(report: Report) -> list[Parsed]:
        report(0.0, "")
        return parse(nlp, sample.sources if side == "source" else targets_of(sample, subject.model.target))

    return long_work.with_progress(subject.key(f"grammar of the {side}"), make, label)


@st.cache_resource(max_entries=4, show_spinner=False)
def _pipeline(lang: str) -> Any:
    return load_pipeline(lang)


def draw_grammar(subject: Subject, measured: Measured, place: Head) -> None:
    """Draw the head's weight on kinds of words and, with a parser, the relations that encoder heads find."""
    lang = subject.model.data_config.src_lang
    if subject.model.data_config.tokenizer == "characters":
        st.info(t("This model reads letters, not words: there is no grammar to look for."))
        return
    if place[0] == "decoder":
        st.info(t("The keys of a decoder head are words of the translation. Choose an encoder or a cross head."))
        return
    if lang not in PIPELINES or _pipeline(lang) is None:
        _draw_without_pipeline(subject, measured, place, lang)
        return
    grammar = grammar_of(subject, measured)
    observed = None if grammar is None else subject.observations(measured)
    if grammar is None or observed is None:
        return
    _draw_tags(observed, [sentence.tags for sentence in grammar], t("##### Weight by part of speech of the key"), place)
    if place[0] == "cross":
        return
    st.markdown(t("##### From a word to the word that it depends on, in all encoder heads"))
    relations = by_relation(observed, grammar)
    draw_table(relation_rows(relations), t("How often a head finds the word that another depends on"), file="relations")
    st.caption(plain(relation_sentence(relations)))


def _draw_without_pipeline(subject: Subject, measured: Measured, place: Head, lang: str) -> None:
    """Draw what needs no parser: the weight on function words, content words and punctuation, by closed lists."""
    install = (
        t(
            "With spaCy's pipeline {pipeline} installed, this part also shows parts of speech and dependencies.",
            pipeline=PIPELINES[lang],
        )
        if lang in PIPELINES
        else t(
            "Sentences can be parsed for the source languages {languages}; this model reads “{language}”.",
            languages=listed(sorted(PIPELINES)),
            language=lang,
        )
    )
    classes = classes_of(measured.sample.sources, lang)
    if classes is None:
        apart = t("Function and content words are told apart in {languages}.", languages=languages())
        st.info(plain(f"{install} {apart}"))
        return
    observed = subject.observations(measured)
    if observed is None:
        return
    tags = [(*words, "") for words in classes]
    _draw_tags(observed, tags, t("##### Weight on function words, content words and punctuation"), place)
    by_list = t("By a closed list of function words (“{language}”).", language=lang)
    st.caption(plain(f"{by_list} {install}"))


def _draw_tags(observed: Sequence[Observed], tags: Sequence[Sequence[str]], title: str, place: Head) -> None:
    """Draw the weight of the head on each kind of word beside uniform attention; the other heads behind a click."""
    kind, *at = place
    st.markdown(title)
    scores = by_tag(observed, tags, kind)
    draw_table(head_tag_rows(scores, *at), t("Weight of the head on each kind of word"))
    st.caption(
        t(
            "Means over the sentences that have such a word; the rest of the weight is on <eos>. In brackets: 95 % "
            "intervals of the difference, which hold for all heads and kinds of words at once."
        )
    )
    with st.expander(t("All {kind} heads", kind=translated(kind))):
        draw_table(tag_rows(scores), t("Weight of all heads on each kind of word"), file="kinds-of-words")
        st.caption(plain(tag_sentence(scores)))


def draw_search(subject: Subject, measured: Measured, head: Head) -> None:
    """Draw the search fields and the sentences in which a head looks from one word to another."""
    observed = subject.observations(measured)
    if observed is None:
        return
    whole_words = subject.model.data_config.tokenizer != "characters"
    st.caption(t("Where in the sample does a head look from one word to another? Leave a field empty for any word."))
    left, middle, right = st.columns(3)
    query = left.text_input(t("From (query)"), key="search_query", bind=URL)
    key = middle.text_input(t("To (key)"), key="search_key", bind=URL)
    rows: RowLabel = "read"
    if head[0] != "encoder":
        with right:
            ways: tuple[RowLabel, ...] = ("read", "predicted")
            rows = bound.segmented(
                t("The query is the word that a row"), ways, key="search_rows", default="read", title_of=_row_title
            )
    hits = search(observed, *head, query, key, rows=rows, whole_words=whole_words)
    if not hits:
        st.info(plain(no_hit_sentence(query, key)))
        return
    widths = {name: st.column_config.TextColumn(width=_SENTENCE) for name in (t("source"), t("target"))}
    alt = t("Sentences in which the head looks from one word to the other")
    draw_table(hit_rows(hits), alt, file="hits", column_config=widths)
    st.caption(plain(best_hit_sentence(hits, len(observed), head)))


def _row_title(rows: RowLabel) -> str:
    return t("reads") if rows == "read" else t("predicts")
