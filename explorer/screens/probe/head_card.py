"""One head's card: its role and the evidence, example sentences, its importance, similar heads and its scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.charts.measured_heads import coverage_plot, head_plot
from explorer.charts.score_terms import terms_plot
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import index_name
from explorer.locale.glossary import explained
from explorer.locale.text import plain, quoted
from explorer.probing.formulas import coverage
from explorer.probing.head_card import (
    DECILES,
    SHOWN,
    Example,
    coverage_caption,
    deciles,
    example_statistic,
    similar_heads,
    strongest_rows,
)
from explorer.probing.mean_terms import SENTENCES, MeanTerms, mean_terms
from explorer.probing.measurement import Probe
from explorer.probing.reporting import Report
from explorer.probing.roles import role_of, second_job
from explorer.probing.sample import Measured
from explorer.probing.tables import head_numbers, title_of
from explorer.screens.probe.importance import known_importance
from explorer.screens.probe.progress import measurement_key, some_observations
from explorer.web import page_parts, runtime, session
from explorer.web.figures import draw_table
from explorer.web.long_work import asked, known, with_progress
from model.analysis.recorded_batches import Observed
from model.analysis.score_terms import ScoreTermsError
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS
from model.points import Head


def choose_head(probe: Probe, key: str) -> Head:
    """Draw the select boxes for the current head, which all pages share; return it, counted from 0.

    A place that this kind of attention does not have (a layer too many, the mean over heads) becomes the nearest one.
    """
    selection = session.selection()
    measured = probe.kinds[selection.kind]
    layer, head = min(max(selection.layer, 1), measured.n_layers), min(max(selection.head, 1), measured.n_heads)
    options: dict[str, tuple[list[Any], Any]] = {
        "kind": (list(ATTENTION_KINDS), selection.kind),
        "layer": (list(range(1, measured.n_layers + 1)), layer),
        "head": (list(range(1, measured.n_heads + 1)), head),
    }
    for (name, (choices, now)), column in zip(options.items(), st.columns(3), strict=True):
        # The session's place is authoritative: the widget shows it and reports its changes to it.
        st.session_state[f"{key}_{name}"] = now
        column.selectbox(name.capitalize(), choices, key=f"{key}_{name}", on_change=_moved, args=(key, name))
    return selection.kind, layer - 1, head - 1


def _moved(key: str, name: str) -> None:
    session.move(**{name: st.session_state[f"{key}_{name}"]})


def draw_card(described: ModelDescription, measured: Measured) -> None:
    """Draw the card of the chosen head."""
    kind, layer, head = choose_head(measured.probe, "card")
    scores = measured.probe.kinds[kind]
    role = role_of(scores, layer, head)
    st.markdown(f"#### {plain(f'{kind.capitalize()} {index_name(layer, head)}: {role.name}')}")
    st.caption(explained(role.evidence))
    st.caption(plain(second_job(scores, role, layer, head)))
    statistic = example_statistic(role, scores)
    examples = deciles(scores, statistic, layer, head)
    left, right = st.columns([3, 2])
    with left:
        _draw_deciles(described, measured, (kind, layer, head), statistic, examples)
    with right:
        st.markdown("##### Its importance")
        importance = known_importance(described, measured)
        if importance is None:
            st.caption("Not measured yet: see the tab 'Importance'.")
        else:
            st.caption(plain(importance.sentence_about((kind, layer, head))))
        st.markdown("##### Heads that look alike")
        for line in similar_heads(scores, layer, head) or (f"There is no other {kind} head to compare it with.",):
            st.caption(plain(line))
    _draw_terms(described, measured, (kind, layer, head))
    st.markdown("##### Its scores beside both baselines")
    draw_table(
        [
            {name: value for name, value in row.items() if name not in ("kind", "layer", "head", "untrained models")}
            for row in head_numbers(measured.probe, kind, layer, head)
        ],
        f"Scores of {kind} {index_name(layer, head)}",
        file=f"scores-{kind}-{layer + 1}-{head + 1}",
    )


def _draw_terms(described: ModelDescription, measured: Measured, place: Head) -> None:
    """Draw what draws the head's weight to where it goes, over the sample, once somebody has asked for it."""
    st.markdown("##### Why does it look there?")
    key = measurement_key(described, measured.choice, f"terms {place}")
    if known(key) is None and not asked(key, f"Take its scores apart over {SENTENCES} sentences"):
        return

    def make(loaded: LoadedModel, report: Report) -> MeanTerms:
        return mean_terms(loaded, measured.sample, place, report)

    try:
        found = with_progress(key, partial(runtime.compute_in_parts, described.name, make), "Taking scores apart")
    except ScoreTermsError as variant:
        st.info(plain(str(variant)))
        return
    if found is not None:
        plot = terms_plot(found.table, found.query_parts, found.key_parts, found.caption())
        page_parts.draw_plot(plot, "card_terms")
        st.caption(
            "How much higher the score is where the weight goes than on an average key, as a sum over pairs: what "
            "wrote the query and what wrote the key. The page Attention takes single scores apart, under 'One cell'."
        )


def _draw_deciles(
    described: ModelDescription, measured: Measured, place: Head, statistic: str, examples: tuple[Example, ...]
) -> None:
    """Draw the best, the median and the worst sentence, and a choice of the deciles between them."""
    title = title_of(statistic)
    st.markdown(f"##### {plain('From the best sentence to the worst')}")
    if not examples:
        st.info("No sentence of the sample shows this score.")
        return
    st.caption(plain(f"Sorted by: {title}, above that of uniform attention in the same sentence."))
    shown = some_observations(described, measured, [examples[decile].index for decile in SHOWN.values()])
    for name, decile in SHOWN.items():
        example = examples[decile]
        _draw_sentence(shown[example.index], place, example, name, open_at_first=decile == DECILES)
    others = [decile for decile in reversed(range(len(examples))) if decile not in SHOWN.values()]
    chosen = st.selectbox(
        "Another sentence of the order",
        others,
        index=None,
        format_func=lambda decile: f"decile {decile}: {examples[decile].sort_key()}",
        key="card_decile",
        placeholder="best = 10, worst = 0",
    )
    if chosen is not None:
        example = examples[chosen]
        other = some_observations(described, measured, [example.index])
        _draw_sentence(other[example.index], place, example, f"Decile {chosen}", open_at_first=True)


def _draw_sentence(item: Observed, place: Head, example: Example, name: str, *, open_at_first: bool) -> None:
    kind, layer, head = place
    trace = item.trace
    weights, mask = trace.weights(kind)[layer, head], trace.mask(kind)
    rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
    columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
    predicted = () if kind == "encoder" else trace.predicted_tokens
    text = " ".join(trace.src_tokens[:-1])
    caption = f"{example.sort_key()} in {quoted(text)}: {strongest_rows(weights, rows, columns, predicted)}"
    key = name.lower().replace(" ", "_")
    with st.expander(plain(f"{name}: {example.sort_key()} · {text}"), expanded=open_at_first):
        plot = head_plot(weights, mask, rows, columns, kind=kind, caption=caption)
        page_parts.draw_plot(plot, f"card_{key}")
        if kind == "cross":
            covered = coverage_plot(coverage(weights), columns, coverage_caption(weights, columns))
            page_parts.draw_plot(covered, f"cover_{key}")
