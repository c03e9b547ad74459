"""The Probe page's tab One head: its role, examples, scores, searches by words, and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.content_words import over_words
from explorer.decoding.labelled_map import PairMarks, head_map
from explorer.decoding.names import index_name
from explorer.locale.glossary import explained
from explorer.locale.messages import message, t, translated
from explorer.locale.text import capitalised, fixed, percent, plain
from explorer.probing.head_card import (
    EXAMPLES,
    MIN_ROWS,
    counted_cells,
    example_statistic,
    examples,
    framed_weight,
)
from explorer.probing.measured import Measured
from explorer.probing.measurement import WITHOUT_SINKS
from explorer.probing.roles import evidence, needed_note, role_of, statistic_title
from explorer.probing.tables import brief_rows, gold_note, head_numbers
from explorer.screens.probe.importance import measured_importance
from explorer.screens.probe.notes import draw_note
from explorer.screens.probe.sample_choice import Subject
from explorer.screens.probe.words import draw_grammar, draw_search
from explorer.web import bound, page_parts, session
from explorer.web.figures import draw_map, draw_table
from model.analysis.recorded_batches import Observed
from model.config import ModelConfig
from model.points import Head

ONE_HEAD = message("One head")
PART = "probe_head_part"  # key, and URL parameter
_WORDS = "probe_words"  # the same
_NAMES = 330  # pixels, in which the longest names of statistics are whole


def choose_head(config: ModelConfig, key: str) -> Head:
    """Draw the select boxes for the current head, which all pages share; return it, counted from 0.

    A place that this kind of attention does not have (a layer too many, the mean over heads) becomes the nearest one.
    """
    selection = session.selection()
    kind = selection.kind if selection.kind in config.kinds else config.kinds[-1]
    n_layers, n_heads = config.n_layers(kind), config.n_heads(kind)
    layer, head = min(max(selection.layer, 1), n_layers), min(max(selection.head, 1), n_heads)
    options: dict[str, tuple[str, list[Any], Any, Callable[[Any], str]]] = {
        "kind": (t("Kind"), list(config.kinds), kind, translated),
        "layer": (t("Layer"), list(range(1, n_layers + 1)), layer, lambda n: t("Layer {layer}", layer=n)),
        "head": (t("Head"), list(range(1, n_heads + 1)), head, lambda n: t("Head {head}", head=n)),
    }
    for (name, (label, choices, now, title)), column in zip(options.items(), st.columns(3), strict=True):
        # The session's place is authoritative: the widget shows it and reports changes to it.
        st.session_state[f"{key}_{name}"] = now
        column.selectbox(
            label,
            choices,
            format_func=title,
            key=f"{key}_{name}",
            on_change=_move,
            args=(key, name),
            label_visibility="collapsed",
        )
    return kind, layer - 1, head - 1


def _move(key: str, name: str) -> None:
    session.move(**{name: st.session_state[f"{key}_{name}"]})


def draw_one_head(subject: Subject, measured: Measured) -> None:
    """Draw the choice of a head, its role with the evidence, and one of the parts about it."""
    place = kind, layer, head = choose_head(subject.model.model_config, "card")
    scores, name = measured.probe.kinds[kind], index_name(layer, head)
    role = role_of(scores, layer, head)
    rows, meaning, reading = evidence(scores, role, layer, head)
    title = t("{kind} {head}: {role}", kind=capitalised(translated(kind)), head=name, role=role.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {plain(title)}", width="content")
        with st.popover(t("What this test says"), icon=":material/help:", width="content"):
            st.caption(explained(f"{reading} {needed_note(measured.probe.seeds)}"))
    st.caption(explained(meaning))
    if rows:
        draw_table(rows, t("The test of its role"))
    parts = {
        message("Sentences"): lambda: _draw_sentences(subject, measured, place),
        message("Scores"): lambda: _draw_scores(measured, place),
        message("Search"): lambda: draw_search(subject, measured, place),
        message("Grammar"): lambda: draw_grammar(subject, measured, place),
    }
    if not subject.model.model_config.has_encoder:
        del parts["Grammar"]  # it compares a source with its translation
    names = list(parts)
    parts[bound.segmented(t("Part"), names, key=PART, default=names[0], label_visibility="collapsed")]()


def _draw_sentences(subject: Subject, measured: Measured, place: Head) -> None:
    kind, layer, head = place
    scores = measured.probe.kinds[kind]
    left, right = st.columns([4, 3])
    with left:
        statistic = example_statistic(role_of(scores, layer, head), scores)
        _draw_examples(subject, measured, place, statistic)
    with right:
        st.markdown(t("##### Its importance"))
        importance = measured_importance(subject, measured)
        if importance is None:
            st.caption(t("Not measured yet: see the tab “Effect on the answer”, “Importance”."))
        else:
            changes, about = importance.of_head(place)
            wide = dict(zip(changes[0], (168, 190), strict=True))  # pixels, which fit a phone
            draw_table(changes, about, column_config={name: st.column_config.Column(width=wide[name]) for name in wide})
            st.caption(plain(about))
        draw_note(subject.name, place)


def _draw_scores(measured: Measured, place: Head) -> None:
    """Draw the scores of the head beside both baselines: those that judge it and ten more, or all."""
    kind, layer, head = place
    rows = head_numbers(measured.probe, *place)
    every = st.toggle(t("All statistics"), key="card_every", bind=page_parts.URL)
    draw_table(
        brief_rows(rows, role_of(measured.probe.kinds[kind], layer, head).judged, every=every),
        t("Scores of {kind} {head}", kind=translated(kind), head=index_name(layer, head)),
        file=f"scores-{kind}-{layer + 1}-{head + 1}",
        column_config={t("statistic"): st.column_config.TextColumn(width=_NAMES if every else None)},
    )
    said = t(
        "Means over sentences, in brackets their 95 % intervals (bootstrap over sentences), beside uniform attention "
        "on the same rows and {seeds} untrained models of the same shape, all heads of the layer together. {gold}",
        seeds=measured.probe.seeds,
        gold=gold_note(measured.probe),
    )
    if every:
        said += " " + t(
            "“Whole sample”: links and tokens of all sentences counted together, as the alignment error rate is "
            "defined. "
            "“{without_sinks}”: as a share of the weight that does not go to the first token or <eos>. Standard "
            "deviations and more decimals are in the tables of the tab “Take away”.",
            without_sinks=t("sinks left out"),
        )
    st.caption(plain(said))


def _draw_examples(subject: Subject, measured: Measured, place: Head, statistic: str) -> None:
    """Draw the best, the median and the worst sentence."""
    kind, layer, head = place
    rows = [lengths[kind != "encoder"] for lengths in measured.sample.pairs.lengths]
    chosen = examples(measured.probe.kinds[kind], statistic, layer, head, rows)
    if not chosen:
        st.info(t("No sentence of the sample shows this score."))
        return
    if kind == "cross":
        st.toggle(t("Words only: without <eos> and punctuation"), key=_WORDS, bind=page_parts.URL)
    sentences = subject.some_observations(measured, [example.index for example in chosen.values()])
    for name, example in chosen.items():
        cells, n_rows = counted_cells(sentences[example.index], kind, statistic), rows[example.index]
        about, counted = t("{n} row", "{n:,} rows", n=n_rows), len({row for row, _ in cells})
        if 0 < counted < n_rows:
            about = t("{n} of {rows} counts", "{n:,} of {rows} count", n=counted, rows=about)
        text = measured.sample.sources[example.index].text
        right = None
        if statistic.startswith("lexical"):  # a score that leaves sinks out
            framed, outside = framed_weight(sentences[example.index], place, cells)
            right = framed / outside
        title = f"{translated(name)}: {example.sort_key(right)} · {about} · {text}"
        opened = name == EXAMPLES[0]
        _draw_sentence(sentences[example.index], place, title, statistic, key=name.lower(), expanded=opened)
    said = t(
        "Sorted by: {score}, as a share of the way from uniform attention in the same sentence to a perfect 1, among "
        "sentences with at least {rows} rows.",
        score=statistic_title(statistic),
        rows=min([MIN_ROWS, *(rows[example.index] for example in chosen.values())]),
    )
    below = t("Below 0: less than uniform attention.") if any(each.gain < 0 for each in chosen.values()) else ""
    shuffled = (
        t("Where a shuffled partner falls on a right word, even a perfect head stays below 1.")
        if statistic.startswith("lexical")
        else ""
    )
    st.caption(plain(" ".join(filter(None, (said, below, shuffled)))))


def _draw_sentence(item: Observed, place: Head, title: str, statistic: str, *, key: str, expanded: bool) -> None:
    kind, layer, head = place
    with st.expander(plain(title), expanded=expanded):
        maps, prefix = attention_maps(item.trace, kind), ""
        cells = counted_cells(item, kind, statistic)
        if kind == "cross" and st.session_state.get(_WORDS):
            maps, left_out = over_words(maps, item.trace.src_words)
            cells = ()  # of tokens
            prefix = t(
                "Words only: <eos>, other specials and punctuation are left out, on average {share} of this head's "
                "weight; what remains is scaled to 1.",
                share=percent(float(left_out[layer, head])),
            )
        elif cells:
            prefix = t("Framed: the cells whose weight counts.")
            if statistic.endswith(WITHOUT_SINKS):
                framed, outside = framed_weight(item, place, cells)
                prefix = t(
                    "Framed: the cells whose weight counts, {framed} of the {outside} that their rows together have "
                    "outside the sinks (the first token and <eos>): {share}. So a row that looks mostly at sinks "
                    "counts little. Cells at sinks do not count, even where they are right.",
                    framed=fixed(framed, 2),
                    outside=fixed(outside, 2),
                    share=fixed(framed / outside, 2),
                )
        marked = replace(head_map(maps, layer + 1, head + 1), marks=PairMarks(cells=cells))
        draw_map(marked, key=f"card_{key}", prefix=prefix)
