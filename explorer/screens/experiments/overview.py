"""All experiments at a glance: those with something to see as pictures, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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
    draw_how_to_read()
    _draw_index(stored)
    columns, lengths = st.columns(_ACROSS, gap="small"), [0] * _ACROSS
    for name in sorted(shows["difference"], key=lambda name: -_length(stored[name])):
        shorter = lengths.index(min(lengths))
        lengths[shorter] += _length(stored[name])
        with columns[shorter]:
            _draw_card(EXPERIMENTS[name], stored[name])
    _draw_list(
        t("As good as the first variant"), {name: results.in_words(compared(stored[name])) for name in shows["equal"]}
    )
    _draw_list(
        t("Undecided, or of open size"), {name: results.in_words(compared(stored[name])) for name in shows["undecided"]}
    )
    _draw_list(t("Too few runs to tell"), {name: results.too_few(stored[name]) for name in shows["too few"]})
    _draw_list(t("Nothing to compare yet"), dict.fromkeys(shows["nothing"], ""))


def draw_how_to_read() -> None:
    """Draw what is compared with what, and the explanation of the charts behind a click."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            t("Each variant is compared with the first one. Beside it: the mean of its n runs, and the verdict."),
            width="content",
        )
        with st.popover(t("How to read the charts"), icon=":material/help:", width="content"):
            st.caption(
                t(
                    "Dot and bar: the median difference of two runs, one of each, with its interval, at a level that "
                    "all comparisons of the experiment share (5 % together); grey: undecided. "
                    "Small dots: each run beside the median run of the first variant. Shaded: as good as the first, "
                    "within 1 point, two evaluations or a factor of 2. The scale is linear there and logarithmic "
                    "outside; that of the loss is logarithmic throughout."
                )
            )


def _draw_index(names: Iterable[str]) -> None:
    """Draw a list of all questions, which opens one; a phone shows few of the cards at once."""
    index, names = "experiment_index", list(names)
    st.session_state[index] = None
    st.selectbox(
        t("All experiments"),
        names,
        index=None,
        format_func=lambda name: translated(EXPERIMENTS[name].title),
        key=index,
        placeholder=t("Open one of {n} experiments", n=len(names)),
        label_visibility="collapsed",
        on_change=lambda: open_experiment(st.session_state[index]),
    )


def _length(arms: Sequence[ArmRuns]) -> int:
    """About how long a card is, in rows of its charts."""
    return 2 + sum(4 + len(each.rows) for each in leading(compared(arms)))


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Draw the question, which opens the experiment, and how its variants differ."""
    with st.container(border=True, key=f"card_{experiment.name}", gap="xsmall"):
        _draw_title(experiment)
        for measure in leading(compared(arms)):
            draw_small_figure(replace(forest_figure(measure), title=results.answer(measure)))
        if several := results.no_single_cause(arms):
            st.caption(plain(several))


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
