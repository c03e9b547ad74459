"""Several runs beside each other: how they differ, and their curves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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
    """Draw how the marked runs differ, and their curves, one measure at a time."""
    by_name = {entry.name: entry for entry in marked if os.path.isfile(runs.folder(entry.name) / METRICS)}
    chosen = list(by_name)
    if not chosen:
        st.info(t("There is nothing to compare yet: no metrics have been logged."))
        return
    settings = {run: settings_of(runs.folder(run)) for run in chosen}
    _draw_curves(runs, settings)
    if len(chosen) > 1:
        _draw_differences(by_name, settings)


def _draw_curves(runs: Runs, settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Draw the curves of runs with these settings, one measure at a time."""
    chosen = list(settings)
    measured = {name for run in chosen for name in measures_of(metrics_of(runs, run))}
    labels = {key: translated(MEASURES.get(key, COMPARED[key])[0]) for key in COMPARED if key in measured}
    if st.session_state.get("compare_measure") not in labels:
        st.session_state.pop("compare_measure", None)  # none of these runs has it
    shared = {"format_func": labels.__getitem__, "persist_state": "session"}
    measure = choose_one(t("Measure"), list(labels), key="compare_measure", **shared)
    if len(chosen) > MAX_CURVES:
        st.caption(t("The first {n} have curves here.", n=MAX_CURVES))
        chosen = chosen[:MAX_CURVES]
    by_token = measure not in ("exact_match", "bleu")
    groups = comparable({run: runs.folder(run) for run in chosen}, by_token=by_token)
    peeking = [run for run in chosen if settings[run].get("causal") is False and measure in BESIDE_THE_ANSWER]
    if peeking and len(chosen) > 1:
        sentence = t(
            "Without a causal mask: {runs}. This number was measured while the token to predict was in view, and does "
            "not say how well the model writes.",
            runs=listed(map(quoted, peeking)),
        )
        st.warning(plain(sentence))
    data: dict[str, list[Any]] = {}
    columns = st.columns(2, gap="large") if len(groups) > 1 else [st.container()]
    for at, group in enumerate(groups):
        curves = {run: metrics_of(runs, run) for run in group}
        figure = comparison_figure(curves, measure, _PIXELS, among=chosen)
        with columns[at % len(columns)]:
            if figure.data["step"]:
                draw_figure(figure)
                data = {name: [*data.get(name, []), *values] for name, values in figure.data.items()}
            else:
                st.info(plain(figure.caption))
    if len(groups) > 1:
        apart = t(
            "A mean over tokens can be compared between runs with the same tokens and the same validation sentences "
            "only, so runs that differ in these have charts of their own."
        )
        st.caption(apart if by_token else t("Runs with other validation sentences have charts of their own."))
    if data:
        with st.expander(t("These curves as a table")):
            draw_table(curve_rows(data), t("The values of these curves"), file="curves")


def _draw_differences(entries: Mapping[str, Entry], settings: Mapping[str, Mapping[str, Any]]) -> None:
    st.markdown(f"##### {t('How they differ')}")
    differing = differences(settings)
    same = "" if differing else t("Settings, data and start are the same.")
    if len({f"{each.get('task')} {each.get('own_pairs')}" for each in settings.values()}) > 1:
        same = t("They answered different sentences, so their scores say nothing of which is better.")
    single = t("Each is a single run. Runs of the same settings differ, too: a small difference may be chance.")
    st.caption(f"{same} {single}".strip())
    draw_table(result_rows(entries) + differing, t("How the chosen runs differ"), file="differences", wrap=True)
