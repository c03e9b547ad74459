"""The Probe page's first tab: all heads in a table, one score as a map, and which heads look alike."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.browser.role_grid import role_grid_view
from explorer.charts.measured_heads import layer_head_map, similarity_plot
from explorer.charts.score_scatter import score_scatter
from explorer.decoding.model_description import ModelDescription
from explorer.decoding.names import index_name
from explorer.locale.glossary import explained
from explorer.locale.text import plain
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, Probe
from explorer.probing.role_grid import THUMBNAILS, role_grids, role_table
from explorer.probing.roles import RULE
from explorer.probing.sample import Measured
from explorer.probing.similarity import head_map
from explorer.probing.tables import (
    colour_range,
    gold_note,
    head_rows,
    heads,
    kinds_with,
    number_rows,
    roles,
    scatter_scores,
    summary,
    title_of,
)
from explorer.screens.probe.importance import known_importance
from explorer.screens.probe.sample_choice import align_words
from explorer.web import page_parts, session
from explorer.web.figures import draw_table
from model.config import ATTENTION_KINDS
from model.points import Head

_ROW_PIXELS, _ROWS_SHOWN = 35, 8


_GRID = "probe_grid"
ONE_HEAD = "One head"


def draw_heads(described: ModelDescription, measured: Measured) -> None:
    """Draw the grid of thumbnails, then the table, one score as a map, two against each other, and the numbers."""
    st.markdown(f"**{plain(summary(measured.probe))}**")
    _draw_grid(measured.probe)
    st.caption(
        explained(f"{THUMBNAILS} Click a thumbnail, or choose a row of the table, to open the head's card. {RULE}")
    )
    if measured.probe.gold != "words":
        st.caption(plain(gold_note(measured.probe)))
    if not measured.probe.gold:
        st.button("Align the words statistically", key="probe_align", on_click=align_words, args=(measured.model,))
    _draw_table(measured)
    _draw_map(measured.probe)
    _draw_scatter(described, measured)
    _draw_alike(measured.probe)
    fold = st.expander("Every number with its baselines", key="probe_numbers", on_change="rerun")
    if fold.open:
        with fold:
            _draw_numbers(measured.probe)


def _draw_grid(probe: Probe) -> None:
    grids = role_grids(probe)
    role_grid_view(grids, key=_GRID, on_click=_open_card)
    page_parts.draw_numbers(role_table(grids), "The role of every head", _GRID, "The roles as a table")


def _open_card(chosen: Head) -> None:
    """Open the card of the head that was clicked."""
    kind, layer, head = chosen
    session.move(kind=kind, layer=layer + 1, head=head + 1)
    st.session_state["probe_tab"] = ONE_HEAD


def _draw_table(measured: Measured) -> None:
    names = sorted({role.name for role in roles(measured.probe).values()})
    left, right = st.columns([2, 3])
    kinds = left.segmented_control(
        "Kinds",
        list(ATTENTION_KINDS),
        selection_mode="multi",
        default=list(ATTENTION_KINDS),
        key="probe_kinds",
        bind=page_parts.URL,
        label_visibility="collapsed",
    )
    wanted = right.multiselect(
        "Roles",
        names,
        key="probe_roles",
        bind=page_parts.URL,
        placeholder="Heads with any role",
        label_visibility="collapsed",
    )
    rows = [row for row in head_rows(measured.probe, kinds or ATTENTION_KINDS) if not wanted or row["role"] in wanted]
    _draw_rows(rows)


def _draw_scatter(described: ModelDescription, measured: Measured) -> None:
    fold = st.expander("One score against another", key="probe_scatter", on_change="rerun")
    if not fold.open:
        return
    with fold:
        scores = scatter_scores(measured.probe, known_importance(described, measured))
        chosen = [
            column.selectbox(
                title,
                list(scores),
                index=list(scores).index(title_of(default)),
                key=f"probe_scatter_{title.lower()}",
            )
            for title, default, column in zip(
                ("Across", "Up"), ("effective_keys", "previous"), st.columns(2), strict=True
            )
        ]
        plot = score_scatter(scores[chosen[0]], scores[chosen[1]], (chosen[0], chosen[1]), roles(measured.probe))
        page_parts.draw_plot(plot, "probe_scatter_plot")
        if "importance" not in " ".join(scores):
            st.caption("To compare importance with scores, measure it in the tab 'Importance' first.")


def _draw_rows(rows: list[dict[str, Any]]) -> None:
    if not rows:
        st.info("No head has one of these roles.")
        return
    event = draw_table(
        rows,
        "Heads with their roles and scores",
        height=_ROW_PIXELS * (min(len(rows), _ROWS_SHOWN) + 1) + 3,
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
        st.caption(plain(f"{row['kind']} {row['head']} is open in the tab 'One head'."))


def _draw_map(probe: Probe) -> None:
    statistic = st.selectbox(
        "One score of all heads",
        [name for name in STATISTICS if kinds_with(probe, name)],
        format_func=lambda name: f"{title_of(name)}: {STATISTICS[name].description}",
        key="probe_map",
        bind=page_parts.URL,
    )
    drawn = kinds_with(probe, statistic)
    span = colour_range(probe, statistic)
    for kind, column in zip(drawn, st.columns(len(ATTENTION_KINDS)), strict=False):
        with column:
            item = probe.kinds[kind].scores[statistic]
            decimals = STATISTICS[statistic].decimals
            plot = layer_head_map(
                item.mean, kind, title_of(statistic), span=span, baseline=item.uniform, decimals=decimals
            )
            page_parts.draw_plot(plot, f"probe_map_{kind}")


def _draw_alike(probe: Probe) -> None:
    fold = st.expander("Which heads look alike", key="probe_alike", on_change="rerun")
    if not fold.open:
        return
    with fold:
        kind = st.segmented_control(
            "Kind", list(ATTENTION_KINDS), default="cross", required=True, key="probe_alike_kind"
        )
        similarity = probe.kinds[kind].similarity
        places = [(layer, head) for other, layer, head in heads(probe) if other == kind]
        known = roles(probe)
        plot = similarity_plot(
            head_map(similarity),
            similarity,
            [index_name(*place) for place in places],
            [known[kind, layer, head].name for layer, head in places],
        )
        page_parts.draw_plot(plot, "probe_alike_plot")


def _draw_numbers(probe: Probe) -> None:
    rows = number_rows(probe)
    names = list(dict.fromkeys(row["statistic"] for row in rows))
    wanted = st.multiselect("Statistics", names, key="probe_number_names", placeholder="All")
    shown = [row for row in rows if not wanted or row["statistic"] in wanted]
    draw_table(shown, "Every score of every head with both baselines", file="scores-of-heads")
    left_out = title_of("previous" + WITHOUT_SINKS).split(", ")[1]
    st.caption(
        plain(
            f"Mean over sentences with the ends of its 95 % interval (bootstrap over sentences), and the standard "
            f"deviation; the same for uniform attention on the same rows and for {probe.seeds} untrained models of the "
            f"same shape, all heads of the layer together. 'Above uniform' and 'above untrained' are mean differences "
            f"over the same sentences, with their intervals. {gold_note(probe)} "
            f"'Whole sample': links and tokens of all sentences counted together, as the alignment error rate is "
            f"defined. '{left_out}': as a share of the weight that does not go to the first token or <eos>."
        )
    )
