"""The tab Compare curves: curves of several runs in one figure, and how their settings differ."""

from __future__ import annotations

import os
from collections.abc import Sequence

import streamlit as st

from explorer.charts.training_curves import COMPARED, MAX_CURVES, MEASURES, comparison_figure
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.listing import curve_rows
from explorer.runs.origin import differences, settings_of
from explorer.web.figures import draw_figure, draw_table
from explorer.web.runs import choose_one, metrics_of
from model.folder import METRICS


def draw_comparison(runs: Runs, entries: Sequence[Entry], wanted: Sequence[str]) -> None:
    """Draw curves of several runs, one measure at a time; initially those `wanted`."""
    names = [entry.name for entry in entries if os.path.isfile(runs.folder(entry.name) / METRICS)]
    if not names:
        st.info(t("There is nothing to compare yet: no run here has logged any metrics."))
        return
    chosen = st.multiselect(
        t("Runs to compare"),
        names,
        default=[name for name in wanted if name in names][:MAX_CURVES],
        max_selections=MAX_CURVES,
        key=f"compare_{','.join(wanted)}",
        persist_state="session",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        labels = {key: translated(MEASURES.get(key, of)[0]) for key, of in COMPARED.items()}
        shared = {"format_func": labels.__getitem__, "persist_state": "session"}
        measure = choose_one(t("Measure"), list(labels), key="compare_measure", **shared)
        over_time = st.toggle(t("Over time"), key="compare_time", persist_state="session")
        log = st.toggle(
            t("Logarithmic"),
            value=True,
            key="compare_log",
            persist_state="session",
            disabled="loss" not in measure,
            help=t("A loss on a logarithmic axis: equal factors are equally far apart."),
        )
    if not chosen:
        st.info(t("Choose one or more runs."))
        return
    figure = comparison_figure({run: metrics_of(runs, run) for run in chosen}, measure, over_time=over_time, log=log)
    if figure.data["step"]:
        draw_figure(figure)
    else:
        st.info(plain(figure.caption))
    if len(chosen) > 1:
        st.markdown(f"##### {t('How they differ')}")
        if rows := differences({run: settings_of(runs.folder(run)) for run in chosen}):
            draw_table(rows, t("Settings that differ between the chosen runs"), file="differences")
        else:
            st.caption(t("They do not: settings, data and start are the same."))
    if figure.data["step"]:
        with st.expander(t("These curves as a table")):
            draw_table(curve_rows(figure.data), figure.caption, file="curves")
