"""The Probe page's tab All heads: thumbnails, a table, and one score of all heads as a map."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import streamlit as st

from explorer.browser.role_grid import role_grid_view
from explorer.charts.measured_heads import layer_head_map
from explorer.decoding.names import index_name
from explorer.locale.glossary import explained
from explorer.locale.messages import t, translated
from explorer.locale.text import capitalised, listed, plain
from explorer.probing.measured import Measured
from explorer.probing.measurement import STATISTICS, Probe, statistic_of
from explorer.probing.role_grid import THUMBNAILS, role_grids
from explorer.probing.roles import needed_note, role_title, rule, statistic_title
from explorer.probing.tables import (
    FIRST,
    TEST,
    clearest_first,
    colour_range,
    counted,
    gold_note,
    kinds_with,
    roles,
    sensitivity,
)
from explorer.screens.probe.one_head import ONE_HEAD
from explorer.screens.probe.sample_choice import Subject
from explorer.web import bound, page_parts, session
from explorer.web.figures import draw_table, table_height
from model.points import Head

_LEAST, _MOST = 10, 20  # rows of the table that are in sight: those of heads with a role
_ROLE = 330  # pixels, in which two roles of a head are whole


def draw_heads(subject: Subject, measured: Measured) -> None:
    """Draw the thumbnails, the table, and one score as a map."""
    probe = measured.probe
    st.markdown(f"**{plain(counted(probe))}**")
    role_grid_view(role_grids(measured, subject.model.model_config), key="probe_grid", on_click=_open_card)
    left, right = st.columns([5, 2], vertical_alignment="center")
    click = t("Click a thumbnail, or choose a row of the table, to open the head.")
    left.caption(explained(f"{translated(THUMBNAILS)} {click}"))
    with right.popover(t("How a head gets its name"), icon=":material/help:"):
        # The help of the column of error rates says the same of annotated words.
        gold = "" if "cross" in probe.kinds and probe.gold in ("words", "tokens") else gold_note(probe)
        st.caption(explained(f"{rule()} {sensitivity(probe)} {gold}"))
    _draw_table(probe)
    _draw_map(probe)


def _open_card(chosen: Head) -> None:
    """Open the card of the head that was clicked."""
    kind, layer, head = chosen
    session.move(kind=kind, layer=layer + 1, head=head + 1)
    st.session_state["probe_tab"] = ONE_HEAD


def _draw_table(probe: Probe) -> None:
    left, right = st.columns([2, 3])
    head_roles = roles(probe)
    every_kind, names = list(probe.kinds), sorted({role.name for role in head_roles.values()})
    draw = partial(left.segmented_control, t("Kinds"), every_kind, selection_mode="multi", label_visibility="collapsed")
    kinds = bound.several(draw, every_kind, key="probe_kinds", default=every_kind)
    by_role = t("Filter by role")
    draw = partial(right.multiselect, t("Roles"), names, placeholder=by_role, label_visibility="collapsed")
    wanted = bound.several(draw, names, key="probe_roles", title_of=role_title)
    every = st.session_state.get("probe_every", False)
    by_head = clearest_first(probe, kinds or probe.kinds, wanted, tuple(STATISTICS) if every else ())
    rows = list(by_head.values())
    if not rows:
        st.info(t("No head has one of these roles."))
        return
    with st.container(key="heads_list"):
        event = draw_table(
            [_aligned(row, rows) for row in rows],
            t("Heads with their roles and scores"),
            height=table_height(
                len(rows), most=min(max(_LEAST, sum(role.clear for role in head_roles.values())), _MOST)
            ),
            on_select="rerun",
            selection_mode="single-row",
            key="probe_table",
            column_config={
                t("role"): st.column_config.TextColumn(width=_ROLE),
                statistic_title("error_rate"): st.column_config.TextColumn(help=gold_note(probe)),
            },
        )
        st.toggle(t("All statistics"), key="probe_every", bind=page_parts.URL)
    with st.container(key="heads_cards"):  # in place of the table on a phone: frame.css
        named = [list(row.values()) for place, row in by_head.items() if head_roles[place].clear]
        st.caption(plain(listed(map(translated, TEST[1:]))) if named else t("No head shown has a clear role."))
        cards = ((plain(head), *(plain(text or "") for text in texts[:3])) for head, *texts in named)
        st.markdown("\n".join(f"- **{head}** {role}  \n  {' · '.join(test)}" for head, role, *test in cards))
    order = t(
        "The clearest heads come first: those whose smaller lower end is largest. Beside a sink, frame and numbers are "
        "those of the other role. Roles other than sinks are judged by the weight outside the sinks."
    )
    st.caption(plain(f"{needed_note(probe.seeds)} {order}"))
    selected = event["selection"]["rows"]
    if selected and selected[0] < len(rows):
        kind, layer, head = list(by_head)[selected[0]]
        session.move(kind=kind, layer=layer + 1, head=head + 1)
        name = index_name(layer, head)
        st.caption(plain(t("{kind} {head} is open in the tab “One head”.", kind=translated(kind), head=name)))


def _aligned(row: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, str]:
    """A row with numbers of the same width, by spaces as wide as a digit, so that a column sorts as text."""
    aligned = {}
    for name, value in row.items():
        if name in (t("head"), t("role")) or not value:
            aligned[name] = value or ""
        else:
            width = max(len(str(other[name] or "").split(" ")[0]) for other in rows)
            aligned[name] = "\u2007" * (width - len(value.split(" ")[0])) + value
    return aligned


def _draw_map(probe: Probe) -> None:
    # The scores that judge roles come first, the commonest of them first of all: the table's numbers are theirs.
    head_roles = roles(probe)
    judging = Counter(name for role in head_roles.values() if role.clear for name in role.judged)
    names = dict.fromkeys((*(name for name, _ in judging.most_common()), *FIRST, *STATISTICS))
    statistic = bound.selectbox(
        t("One score of all heads"),
        [name for name in names if kinds_with(probe, name)],
        title_of=lambda name: f"{statistic_title(name)}: {translated(statistic_of(name).description)}",
        key="probe_map",
    )
    title, span, decimals = statistic_title(statistic), colour_range(probe, statistic), statistic_of(statistic).decimals
    having = kinds_with(probe, statistic)
    without = [kind for kind in probe.kinds if kind not in having]
    columns = page_parts.map_columns(len(having))
    for kind, (column, bar) in zip(having, columns, strict=False):
        with column:
            item = probe.kinds[kind].scores[statistic]
            judged = [place for place, role in head_roles.items() if role.clear and statistic in role.judged]
            plot = layer_head_map(
                item.mean,
                kind,
                title,
                span=span,
                baseline=item.uniform,
                decimals=decimals,
                interval=item.estimate,
                named=[(layer, head) for of, layer, head in judged if of == kind],
                bar=bar,
            )
            page_parts.draw_plot(plot, f"probe_map_{kind}", caption=len(having) > 1)
    if len(having) == 1:
        with columns[1][0]:
            page_parts.draw_caption(plot.caption)
    if without:
        kinds = capitalised(listed(map(translated, without)))
        columns[-1][0].caption(plain(t("{kinds} heads do not have this score.", kinds=kinds)))
