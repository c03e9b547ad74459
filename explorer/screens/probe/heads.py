"""The Probe page's tabs All heads (thumbnails, a table and maps) and One head (a card)."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.browser.role_grid import role_grid_view
from explorer.charts.measured_heads import coverage_plot, layer_head_map, score_scatter
from explorer.charts.score_terms import terms_plot
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.labelled_map import head_map
from explorer.decoding.names import index_name
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.probing.head_card import (
    DECILES,
    SENTENCES,
    SHOWN,
    Example,
    deciles,
    example_statistic,
    mean_terms,
    similar_heads,
)
from explorer.probing.measured import Measured
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, Probe
from explorer.probing.role_grid import THUMBNAILS, role_grids
from explorer.probing.roles import RULE, role_of, second_job
from explorer.probing.tables import (
    colour_range,
    gold_note,
    head_numbers,
    head_rows,
    kinds_with,
    roles,
    scatter_scores,
    summary,
    title_of,
)
from explorer.screens.probe.importance import measured_importance
from explorer.screens.probe.sample_choice import Subject, align_words
from explorer.web import page_parts, session
from explorer.web.figures import draw_map, draw_table
from model.analysis.recorded_batches import Observed
from model.analysis.score_terms import ScoreTermsError
from model.config import ModelConfig
from model.points import Head

ONE_HEAD = "One head"
_ROW_PIXELS, _MOST_ROWS = 35, 8


def draw_heads(subject: Subject, measured: Measured) -> None:
    """Draw the thumbnails, the table, one score as a map, and two scores against each other."""
    probe = measured.probe
    st.markdown(f"**{plain(summary(probe))}**")
    role_grid_view(role_grids(probe), key="probe_grid", on_click=_open_card)
    st.caption(
        explained(
            t(
                "{thumbnails} Click a thumbnail, or choose a row of the table, to open the head's card. {rule}",
                thumbnails=THUMBNAILS,
                rule=RULE,
            )
        )
    )
    if probe.gold != "words":
        st.caption(plain(gold_note(probe)))
    if not probe.gold and "cross" in probe.kinds:
        label = t("Align the words statistically")
        st.button(label, key="probe_align", on_click=align_words, args=(subject.name,))
    _draw_table(probe)
    _draw_map(probe)
    fold = st.expander(t("One score against another"), key="probe_scatter", on_change="rerun")
    if fold.open:
        with fold:
            _draw_scatter(subject, measured)


def _open_card(chosen: Head) -> None:
    """Open the card of the head that was clicked."""
    kind, layer, head = chosen
    session.move(kind=kind, layer=layer + 1, head=head + 1)
    st.session_state["probe_tab"] = ONE_HEAD


def _draw_table(probe: Probe) -> None:
    left, right = st.columns([2, 3])
    kinds = left.segmented_control(
        t("Kinds"),
        list(probe.kinds),
        selection_mode="multi",
        default=list(probe.kinds),
        key="probe_kinds",
        bind=page_parts.URL,
        label_visibility="collapsed",
    )
    wanted = right.multiselect(
        t("Roles"),
        sorted({role.name for role in roles(probe).values()}),
        key="probe_roles",
        bind=page_parts.URL,
        placeholder=t("Heads with any role"),
        label_visibility="collapsed",
    )
    rows = [row for row in head_rows(probe, kinds or probe.kinds) if not wanted or row["role"] in wanted]
    if not rows:
        st.info(t("No head has one of these roles."))
        return
    event = draw_table(
        rows,
        t("Heads with their roles and scores"),
        file="heads",
        height=_ROW_PIXELS * (min(len(rows), _MOST_ROWS) + 1) + 3,
        on_select="rerun",
        selection_mode="single-row",
        key="probe_table",
        column_config={name: st.column_config.NumberColumn(format="%.2f") for name in list(rows[0])[3:]},
    )
    selected = event["selection"]["rows"]
    if selected and selected[0] < len(rows):
        row = rows[selected[0]]
        layer, head = (int(part[1:]) for part in row["head"].split())
        session.move(kind=row["kind"], layer=layer, head=head)
        st.caption(plain(t("{kind} {head} is open in the tab 'One head'.", kind=row["kind"], head=row["head"])))


def _draw_map(probe: Probe) -> None:
    statistic = st.selectbox(
        t("One score of all heads"),
        [name for name in STATISTICS if kinds_with(probe, name)],
        format_func=lambda name: f"{title_of(name)}: {STATISTICS[name].description}",
        key="probe_map",
        bind=page_parts.URL,
    )
    title, span, decimals = title_of(statistic), colour_range(probe, statistic), STATISTICS[statistic].decimals
    for kind, column in zip(kinds_with(probe, statistic), st.columns(max(2, len(probe.kinds))), strict=False):
        with column:
            item = probe.kinds[kind].scores[statistic]
            plot = layer_head_map(item.mean, kind, title, span=span, baseline=item.uniform, decimals=decimals)
            page_parts.draw_plot(plot, f"probe_map_{kind}")


def _draw_scatter(subject: Subject, measured: Measured) -> None:
    importance = measured_importance(subject, measured)
    scores = scatter_scores(measured.probe, importance)
    titles, (left, right) = list(scores), st.columns(2)
    across, up = (titles.index(title_of(name)) for name in ("effective_keys", "previous"))
    x = left.selectbox(t("Across"), titles, index=across, key="probe_scatter_across")
    y = right.selectbox(t("Up"), titles, index=up, key="probe_scatter_up")
    page_parts.draw_plot(score_scatter(scores[x], scores[y], (x, y), roles(measured.probe)), "probe_scatter_plot")
    if importance is None:
        st.caption(t("To compare importance with scores, measure it in the tab 'Importance' first."))


def choose_head(config: ModelConfig, key: str) -> Head:
    """Draw the select boxes for the current head, which all pages share; return it, counted from 0.

    A place that this kind of attention does not have (a layer too many, the mean over heads) becomes the nearest one.
    """
    selection = session.selection()
    kind = selection.kind if selection.kind in config.kinds else config.kinds[-1]
    n_layers, n_heads = config.n_layers(kind), config.n_heads(kind)
    layer, head = min(max(selection.layer, 1), n_layers), min(max(selection.head, 1), n_heads)
    options: dict[str, tuple[str, list[Any], Any]] = {
        "kind": (t("Kind"), list(config.kinds), kind),
        "layer": (t("Layer"), list(range(1, n_layers + 1)), layer),
        "head": (t("Head"), list(range(1, n_heads + 1)), head),
    }
    for (name, (label, choices, now)), column in zip(options.items(), st.columns(3), strict=True):
        # The session's place is authoritative: the widget shows it and reports changes to it.
        st.session_state[f"{key}_{name}"] = now
        column.selectbox(label, choices, key=f"{key}_{name}", on_change=_move, args=(key, name))
    return kind, layer - 1, head - 1


def _move(key: str, name: str) -> None:
    session.move(**{name: st.session_state[f"{key}_{name}"]})


def draw_card(subject: Subject, measured: Measured) -> None:
    """Draw the card of the chosen head."""
    place = kind, layer, head = choose_head(subject.model.model_config, "card")
    scores, name = measured.probe.kinds[kind], index_name(layer, head)
    role = role_of(scores, layer, head)
    st.markdown(f"#### {plain(f'{kind.capitalize()} {name}: {role.name}')}")
    st.caption(explained(role.evidence))
    st.caption(plain(second_job(scores, role, layer, head)))
    left, right = st.columns([3, 2])
    with left:
        _draw_deciles(subject, measured, place, example_statistic(role, scores))
    with right:
        st.markdown(t("##### Its importance"))
        importance = measured_importance(subject, measured)
        if importance is None:
            st.caption(t("Not measured yet: see the tab 'Importance'."))
        else:
            st.caption(plain(importance.sentence_about(place)))
        st.markdown(t("##### Heads that look alike"))
        none = t("There is no other {kind} head to compare it with.", kind=kind)
        for line in similar_heads(scores, layer, head) or (none,):
            st.caption(plain(line))
    _draw_terms(subject, measured, place)
    st.markdown(t("##### Its scores beside both baselines"))
    place_columns = ("kind", "layer", "head", "untrained models")
    rows = head_numbers(measured.probe, kind, layer, head)
    draw_table(
        [{column: value for column, value in row.items() if column not in place_columns} for row in rows],
        t("Scores of {kind} {head}", kind=kind, head=name),
        file=f"scores-{kind}-{layer + 1}-{head + 1}",
    )
    st.caption(
        plain(
            t(
                "Mean over sentences with the ends of its 95 % interval (bootstrap over sentences), and the standard "
                "deviation; the same for uniform attention on the same rows and for {seeds} untrained models of the "
                "same shape, all heads of the layer together. 'Above uniform' and 'above untrained' are mean "
                "differences over the same sentences, with their intervals. {gold} 'Whole sample': links and tokens of "
                "all sentences counted together, as the alignment error rate is defined. '{without_sinks}': as a share "
                "of the weight that does not go to the first token or <eos>. The tab 'Export' has all heads in one "
                "table.",
                seeds=measured.probe.seeds,
                gold=gold_note(measured.probe),
                without_sinks=title_of("previous" + WITHOUT_SINKS).split(", ")[1],
            )
        )
    )


def _draw_terms(subject: Subject, measured: Measured, place: Head) -> None:
    """Draw why the head looks where it does, over the sample, once its button has been pressed."""
    st.markdown(t("##### Why does it look there?"))
    what = f"terms {place}"
    if not subject.asked(what, t("Take its scores apart over {sentences} sentences", sentences=SENTENCES)):
        return
    try:
        terms = subject.measure(
            what,
            t("Taking scores apart"),
            lambda loaded, report: mean_terms(loaded, measured.sample, place, report),
        )
    except ScoreTermsError as variant:
        st.info(plain(str(variant)))
        return
    if terms is not None:
        plot = terms_plot(terms.table, terms.query_parts, terms.key_parts, terms.caption())
        page_parts.draw_plot(plot, "card_terms")
        st.caption(
            t(
                "How much higher the score is where the weight goes than on an average key, as a sum over pairs: the "
                "part that wrote the query, and the part that wrote the key. The page Attention takes single scores "
                "apart, under 'One cell'."
            )
        )


def _draw_deciles(subject: Subject, measured: Measured, place: Head, statistic: str) -> None:
    """Draw the best, the median and the worst sentence, and a choice of the deciles between them."""
    kind, layer, head = place
    examples = deciles(measured.probe.kinds[kind], statistic, layer, head)
    st.markdown(t("##### From the best sentence to the worst"))
    if not examples:
        st.info(t("No sentence of the sample shows this score."))
        return
    title = title_of(statistic)
    st.caption(plain(t("Sorted by: {score}, above that of uniform attention in the same sentence.", score=title)))
    sentences = subject.some_observations(measured, [examples[decile].index for decile in SHOWN.values()])
    for name, decile in SHOWN.items():
        example = examples[decile]
        _draw_sentence(sentences[example.index], place, example, name, expanded=decile == DECILES)
    chosen = st.selectbox(
        t("Another sentence of the order"),
        [decile for decile in reversed(range(len(examples))) if decile not in SHOWN.values()],
        index=None,
        format_func=lambda decile: t("decile {n}: {score}", n=decile, score=examples[decile].sort_key()),
        key="card_decile",
        placeholder=t("best = 10, worst = 0"),
    )
    if chosen is not None:
        example = examples[chosen]
        other = subject.some_observations(measured, [example.index])[example.index]
        _draw_sentence(other, place, example, t("Decile {n}", n=chosen), expanded=True)


def _draw_sentence(item: Observed, place: Head, example: Example, name: str, *, expanded: bool) -> None:
    kind, layer, head = place
    weights = item.trace.weights(kind)[layer, head]
    key = name.lower().replace(" ", "_")
    title = f"{name}: {example.sort_key()} · {' '.join(item.trace.src_tokens[:-1] or item.trace.read_tokens)}"
    with st.expander(plain(title), expanded=expanded):
        draw_map(head_map(attention_maps(item.trace, kind), layer + 1, head + 1), key=f"card_{key}")
        if kind == "cross":
            page_parts.draw_plot(coverage_plot(weights, item.trace.src_tokens), f"cover_{key}")
