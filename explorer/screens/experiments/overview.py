"""All experiments at a glance: those with something to see as pictures, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import streamlit as st

from explorer.charts.forest import forest_figure
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs
from explorer.runs.experiment_relations import Outcome, compared, leading, overall
from explorer.web.figures import draw_small_figure
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError

EXPERIMENT = "experiment"  # key of the one that is open, and name of its URL parameter
ALL = "all"  # its value for this overview
_ACROSS = 2


def draw_overview() -> None:
    """Draw a card for each experiment whose variants differ, then a list of the others by what their runs show."""
    stored: dict[str, tuple[ArmRuns, ...]] = {}
    for name, experiment in EXPERIMENTS.items():
        try:
            stored[name] = arm_runs(experiment)
        except ResultError as damaged:
            st.error(plain(str(damaged)))
    shows: dict[Outcome, list[str]] = defaultdict(list)
    for name, arms in stored.items():
        shows[overall(arms)].append(name)
    st.caption(how_to_read())
    columns, lengths = st.columns(_ACROSS, gap="small"), [0] * _ACROSS
    for name in shows["difference"]:
        shorter = lengths.index(min(lengths))
        with columns[shorter]:
            lengths[shorter] += _draw_card(EXPERIMENTS[name], stored[name])
    _draw_list(
        t("As good as the first variant"), {name: results.in_words(compared(stored[name])) for name in shows["equal"]}
    )
    _draw_list(t("Undecided"), {name: results.in_words(compared(stored[name])) for name in shows["undecided"]})
    _draw_list(t("Too few runs to tell"), {name: results.too_few(stored[name]) for name in shows["too few"]})
    _draw_list(t("Nothing to compare yet"), dict.fromkeys(shows["nothing"], ""))


def how_to_read() -> str:
    """Explain the figures."""
    return t(
        "Each variant is compared with the first one. Text: the mean of its n runs. Dot and bar: the median difference "
        "of two runs, one of each, with its interval; grey: undecided. Shaded: as good as the first, within 1 point, "
        "two evaluations or a factor of 2; the scale is logarithmic outside it."
    )


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns]) -> int:
    """Draw the question, which opens the experiment, and how its variants differ; returns how long it is."""
    with st.container(border=True, key=f"card_{experiment.name}", gap="xsmall"):
        _draw_title(experiment)
        measures = compared(arms)
        drawn = leading(measures)
        for measure in drawn:
            draw_small_figure(forest_figure(measure))
        others = [f"{results.title(each)}." for each in measures if each not in drawn and each.has_intervals]
        st.caption(plain(" ".join([*others, results.no_single_cause(arms)])))
    return 4 + sum(3 + len(each.rows) for each in drawn)


def _draw_list(title: str, answers: Mapping[str, str]) -> None:
    """Draw a line for each experiment: its question, which opens it, and its answer."""
    if answers:
        st.markdown(f"##### {title}")
    with st.container(gap="xsmall"):
        for name, answer in answers.items():
            question, said = st.columns([1, 2], gap="small")
            with question:
                _draw_title(EXPERIMENTS[name])
            said.caption(plain(answer))


def _draw_title(experiment: Experiment) -> None:
    label, key = f"**{plain(translated(experiment.title))}**", f"open_{experiment.name}"
    st.button(
        label,
        key=key,
        type="tertiary",
        on_click=open_experiment,
        args=(experiment.name,),
        icon=":material/arrow_forward:",
    )


def open_experiment(name: str) -> None:
    """Open an experiment by its name, or all of them."""
    st.session_state[EXPERIMENT] = name
