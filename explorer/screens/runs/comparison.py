"""The tab Compare curves: curves of several runs in one figure, and how their settings differ."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from explorer.charts.training_curves import (
    BESIDE_THE_ANSWER,
    COMPARED,
    MAX_CURVES,
    MEASURES,
    comparison_figure,
    measures_of,
)
from explorer.locale.messages import t, translated
from explorer.locale.text import listed, plain, quoted
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.listing import curve_rows, result_rows
from explorer.runs.origin import comparable, differences, settings_of
from explorer.web.figures import draw_figure, draw_table
from explorer.web.runs import choose_one, metrics_of
from model.folder import METRICS

_PIXELS = 360  # of a chart of several runs


def draw_comparison(runs: Runs, marked: Sequence[Entry]) -> None:
    """Draw the curves of the runs that are marked, one measure at a time, and how these runs differ."""
    by_name = {entry.name: entry for entry in marked if os.path.isfile(runs.folder(entry.name) / METRICS)}
    chosen = list(by_name)
    if not chosen:
        st.info(t("There is nothing to compare yet: no metrics have been logged."))
        return
    measured = {name for run in chosen for name in measures_of(metrics_of(runs, run))}
    labels = {key: translated(MEASURES.get(key, COMPARED[key])[0]) for key in COMPARED if key in measured}
    if st.session_state.get("compare_measure") not in labels:
        st.session_state.pop("compare_measure", None)  # none of these runs has it
    shared = {"format_func": labels.__getitem__, "persist_state": "session"}
    measure = choose_one(t("Measure"), list(labels), key="compare_measure", **shared)
    if len(marked) == 1:
        st.caption(t("Choose several runs in the list above, to compare their curves."))
    if len(chosen) > MAX_CURVES:
        st.caption(t("The first {n} have curves here.", n=MAX_CURVES))
        chosen = chosen[:MAX_CURVES]
    groups = comparable({run: runs.folder(run) for run in chosen}) if "loss" in measure else [chosen]
    if len(groups) > 1:
        st.caption(
            t(
                "A loss is a mean over tokens. It can be compared between runs with the same tokens and the same "
                "validation sentences only, so the others have charts of their own."
            )
        )
    settings = {run: settings_of(runs.folder(run)) for run in chosen}
    peeking = [run for run in chosen if settings[run].get("causal") is False and measure in BESIDE_THE_ANSWER]
    if peeking and len(chosen) > 1:
        sentence = t(
            "Without a causal mask: {runs}. This number was measured while the token to predict was in view, and does "
            "not say how well the model writes.",
            runs=listed(map(quoted, peeking)),
        )
        st.warning(plain(sentence))
    data: dict[str, list[Any]] = {}
    for group in groups:
        figure = comparison_figure({run: metrics_of(runs, run) for run in group}, measure, height=_PIXELS)
        if len(groups) > 1:
            figure = replace(figure, title=f"{figure.title} · {', '.join(group)}")
        if figure.data["step"]:
            draw_figure(figure)
            data = {name: [*data.get(name, []), *values] for name, values in figure.data.items()}
        else:
            st.info(plain(figure.caption))
    if len(chosen) > 1:
        st.markdown(f"##### {t('How they differ')}")
        differing = differences(settings)
        rows = result_rows({run: by_name[run] for run in chosen}) + differing
        draw_table(rows, t("How the chosen runs differ"), file="differences", height="content")
        if not differing:
            st.caption(t("Settings, data and start are the same."))
        left, right = st.columns([4, 1], vertical_alignment="center")
        left.caption(
            t("Each is a single run. Runs of the same settings differ, too: a small difference may be chance.")
        )
        right.page_link("pages/experiments.py", label=t("Experiments"), icon=":material/science:")
    if data:
        with st.expander(t("These curves as a table")):
            draw_table(curve_rows(data), t("The values of these curves"), file="curves")
