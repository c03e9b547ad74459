"""The Probe page's grammar tab: attention by part of speech and by dependency relation."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from explorer.probing.sample import Measured
from explorer.probing.syntax import (
    LEAST_ROWS,
    OFFSET_MARGIN,
    PIPELINES,
    Parsed,
    RelationScores,
    TagScores,
    by_relation,
    by_tag,
    load_pipeline,
    parse,
    targets_of,
)
from explorer.probing.tables import name_of
from explorer.screens.probe.sample_choice import at_work, chosen
from explorer.screens.probe.search import Tags
from explorer.text import plain
from explorer.web import runtime
from explorer.web.measurements import Report
from explorer.web.page_parts import URL
from model.checkpoint import LoadedModel
from model.config import AttentionKind

Side = Literal["source", "target"]


def grammar_of(loaded: LoadedModel, found: Measured, side: Side = "source") -> list[Parsed] | None:
    """The sample's sentences of one side parsed; None where no pipeline is installed, or the work was stopped."""
    data = loaded.data_config
    if data.tokenizer == "characters":
        return None
    nlp = _pipeline(data.src_lang if side == "source" else data.tgt_lang)
    if nlp is None:
        return None

    def make(report: Report) -> list[Parsed]:
        report(0.0, f"Parsing the {side} sentences")
        sample = found.sample
        return parse(nlp, sample.sources if side == "source" else targets_of(sample, loaded.target))

    key = (f"grammar of the {side}", loaded.name, runtime.fingerprint(loaded.name), chosen(loaded.name).key)
    return at_work(key, make, f"Parsing the {side} sentences")


@st.cache_resource(max_entries=4, show_spinner=False)
def _pipeline(lang: str) -> Any:
    nlp = load_pipeline(lang)
    runtime.freeze()
    return nlp


def tags_of(source: list[Parsed] | None, target: list[Parsed] | None, found: Measured) -> list[Tags]:
    """What the search takes: parts of speech of the source tokens and of those read, '' where a side is not parsed."""
    if source is None and target is None:
        return []
    tags = []
    for index, item in enumerate(found.observed):
        n_src, n_read = len(item.trace.src_tokens), len(item.trace.read_tokens)
        src = source[index].tags if source is not None else ()
        read = ("", *target[index].tags[:-1]) if target is not None else ()  # <sos> first, and <eos> is never read
        tags.append((_filled(src, n_src), _filled(read, n_read)))
    return tags


def _filled(tags: tuple[str, ...], length: int) -> tuple[str, ...]:
    return tags if len(tags) == length else ("",) * length


def draw_grammar(loaded: LoadedModel, found: Measured) -> None:
    """Both tables, or what to install."""
    lang = loaded.data_config.src_lang
    if loaded.data_config.tokenizer == "characters":
        st.info("This model reads letters, not words: there is no grammar to look for.")
        return
    if lang not in PIPELINES:
        known = ", ".join(sorted(PIPELINES))
        st.info(plain(f"Sentences are parsed for the source languages {known}; this model reads '{lang}'."))
        return
    if _pipeline(lang) is None:
        st.info(
            plain(
                f"Parsing needs a trained spaCy pipeline, which is not installed. Install it once, then start the app "
                f"again: python -m spacy download {PIPELINES[lang]}"
            )
        )
        return
    grammar = grammar_of(loaded, found)
    if grammar is None:
        return
    kind: AttentionKind = st.segmented_control(
        "Kind", ["encoder", "cross"], default="encoder", required=True, key="grammar_kind", bind=URL
    )
    st.markdown("##### Weight by part of speech of the key")
    tags = by_tag(found.observed, grammar, kind)
    st.dataframe(tag_rows(tags), hide_index=True, alt="Weight on each part of speech")
    st.caption(plain(tag_words(tags)))
    st.markdown("##### From a word to the word that it depends on (encoder)")
    relations = by_relation(found.observed, grammar)
    st.dataframe(
        relation_rows(relations), hide_index=True, alt="How often a head finds the word that another depends on"
    )
    st.caption(plain(relation_words(relations)))


def tag_rows(found: TagScores) -> list[dict[str, Any]]:
    """A line for each head and one for uniform attention; a column for each part of speech."""
    names = sorted(found.mean, key=lambda tag: -found.sentences[tag])
    rows: list[dict[str, Any]] = [{"head": "uniform"} | {tag: round(found.uniform[tag], 3) for tag in names}]
    shape = next(iter(found.mean.values())).shape if names else (0, 0)
    for layer in range(shape[0]):
        for head in range(shape[1]):
            values = {tag: round(float(found.mean[tag][layer, head]), 3) for tag in names}
            rows.append({"head": name_of(layer, head)} | values)
    return rows


def tag_words(found: TagScores) -> str:
    """Which head goes furthest beyond uniform attention, and for what."""
    gains = [
        (float(values[layer, head] - found.uniform[tag]), tag, layer, head)
        for tag, values in found.mean.items()
        for layer in range(values.shape[0])
        for head in range(values.shape[1])
    ]
    if not gains:
        return "No word of the sample has a part of speech."
    _, tag, layer, head = max(gains)
    return (
        f"Furthest above uniform attention: {name_of(layer, head)} on {tag} "
        f"({found.mean[tag][layer, head]:.2f} instead of {found.uniform[tag]:.2f}, over {found.sentences[tag]} "
        f"sentences)."
    )


def relation_rows(found: RelationScores) -> list[dict[str, Any]]:
    """A line for each relation: its best head beside the best fixed distance."""
    rows = []
    for relation in sorted(found.rows, key=lambda name: -found.rows[name]):
        values = found.accuracy[relation]
        layer, head = divmod(int(values.argmax()), values.shape[1])
        offset, baseline = found.offset[relation]
        rows.append(
            {
                "relation": relation,
                "words": found.rows[relation],
                "best head": name_of(layer, head),
                "finds it (%)": round(100 * float(values[layer, head]), 1),
                "its weight": round(float(found.weight[relation][layer, head]), 3),
                "best distance": f"{offset:+d}",
                "that finds it (%)": round(100 * baseline, 1),
                "beyond the margin": ", ".join(name_of(*place) for place in found.clear(relation)) or "none",
            }
        )
    return rows


def relation_words(found: RelationScores) -> str:
    """How many relations some head knows, and the rule for that."""
    clear = [relation for relation in found.rows if found.clear(relation)]
    rule = (
        f"A head knows a relation if it finds the right word {100 * OFFSET_MARGIN:.0f} points more often than the best "
        f"fixed distance, over at least {LEAST_ROWS} words."
    )
    named = f": {', '.join(sorted(clear))}" if clear else ""
    return f"{len(clear)} of {len(found.rows)} relations have such a head{named}. {rule}"
