"""The Probe page's first tab: all heads in a table, one score as a map, and which heads are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from explorer.figures.measured_heads import layer_head_map, similarity_plot
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, Probe
from explorer.probing.roles import RULE
from explorer.probing.sample import Measured
from explorer.probing.similarity import head_map
from explorer.probing.tables import head_rows, heads, name_of, number_rows, roles, summary, title_of
from explorer.text import plain
from explorer.web import page_parts as teach
from explorer.web import session
from model.config import ATTENTION_KINDS, AttentionKind

_ROW_PIXELS, _ROWS_SHOWN = 35, 8


def draw_heads(found: Measured) -> None:
    """Table, map and numbers."""
    st.markdown(f"**{plain(summary(found.probe))}**")
    names = sorted({role.name for role in roles(found.probe).values()})
    left, right = st.columns([2, 3])
    kinds = left.segmented_control(
        "Kinds",
        list(ATTENTION_KINDS),
        selection_mode="multi",
        default=list(ATTENTION_KINDS),
        key="probe_kinds",
        bind=teach.URL,
        label_visibility="collapsed",
    )
    wanted = right.multiselect(
        "Roles",
        names,
        key="probe_roles",
        bind=teach.URL,
        placeholder="Heads with any role",
        label_visibility="collapsed",
    )
    rows = [row for row in head_rows(found.probe, kinds or ATTENTION_KINDS) if not wanted or row["role"] in wanted]
    _draw_rows(rows)
    st.caption(plain(f"Choose a row to open the head's card in the next tab. {RULE}"))
    _draw_map(found.probe)
    _draw_alike(found.probe)
    fold = st.expander("Every number with its baselines", key="probe_numbers", on_change="rerun")
    if fold.open:
        with fold:
            _draw_numbers(found.probe)


def _draw_rows(rows: list[dict[str, Any]]) -> None:
    if not rows:
        st.info("No head has one of these roles.")
        return
    event = st.dataframe(
        rows,
        hide_index=True,
        height=_ROW_PIXELS * (min(len(rows), _ROWS_SHOWN) + 1) + 3,
        on_select="rerun",
        selection_mode="single-row",
        key="probe_table",
        alt="Heads with their roles and scores",
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
        [name for name in STATISTICS if _kinds_with(probe, name)],
        format_func=lambda name: f"{title_of(name)}: {STATISTICS[name].says}",
        key="probe_map",
        bind=teach.URL,
    )
    drawn = _kinds_with(probe, statistic)
    values = {kind: probe.kinds[kind].scores[statistic].mean for kind in drawn}
    top = max(float(np.nanmax(array)) for array in values.values())
    span = (0.0, 1.0 if STATISTICS[statistic].unit in ("share", "") and top <= 1 else top or 1.0)
    for kind, column in zip(drawn, st.columns(len(ATTENTION_KINDS)), strict=False):
        with column:
            item = probe.kinds[kind].scores[statistic]
            decimals = STATISTICS[statistic].decimals
            plot = layer_head_map(
                item.mean, kind, title_of(statistic), span=span, baseline=item.uniform, decimals=decimals
            )
            teach.draw_plot(plot, f"probe_map_{kind}")


def _kinds_with(probe: Probe, statistic: str) -> list[AttentionKind]:
    return [
        kind
        for kind in ATTENTION_KINDS
        if (item := probe.kinds[kind].scores.get(statistic)) is not None and item.sentences
    ]


def _draw_alike(probe: Probe) -> None:
    fold = st.expander("Which heads look alike", key="probe_alike", on_change="rerun")
    if not fold.open:
        return
    with fold:
        kind = st.segmented_control(
            "Kind", list(ATTENTION_KINDS), default="cross", required=True, key="probe_alike_kind"
        )
        similarity = probe.kinds[kind].similarity
        places = [(layer, head) for found, layer, head in heads(probe) if found == kind]
        known = roles(probe)
        plot = similarity_plot(
            head_map(similarity),
            similarity,
            [name_of(*place) for place in places],
            [known[kind, layer, head].name for layer, head in places],
        )
        teach.draw_plot(plot, "probe_alike_plot")


def _draw_numbers(probe: Probe) -> None:
    rows = number_rows(probe)
    names = list(dict.fromkeys(row["statistic"] for row in rows))
    wanted = st.multiselect("Statistics", names, key="probe_number_names", placeholder="All")
    kept = [row for row in rows if not wanted or row["statistic"] in wanted]
    st.dataframe(kept, hide_index=True, alt="Every score of every head with both baselines")
    left_out = title_of("previous" + WITHOUT_SINKS).split(", ")[1]
    st.caption(
        plain(
            f"Mean and spread (standard deviation) over sentences; the same for uniform attention on the same rows; "
            f"mean and spread over {probe.seeds} untrained models of this shape and all heads of the layer. 'Whole "
            f"sample': links and tokens of all sentences counted together, as the alignment error rate is defined. "
            f"'{left_out}': of the weight that does not go to the first token or <eos>."
        )
    )
