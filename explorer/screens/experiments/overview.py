"""All experiments at a glance: those with something to see as pictures, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import streamlit as st

from explorer.charts.forest import forest_figure
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs
from explorer.runs.experiment_relations import Compared, Outcome, compared, leading, overall
from explorer.web.figures import draw_small_figure
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError

EXPERIMENT = "experiment"  # key of the one that is open, and name of its URL parameter
ALL = "all"  # its value for this overview
_ACROSS = 2
_LISTS: dict[Outcome, str] = {
    "equal": message("As good as the first variant"),
    "undecided": message("Undecided, or of open size"),
    "too few": message("Too few runs to tell"),
    "nothing": message("Nothing to compare yet"),
}


def draw_overview() -> None:
    """Draw a card for each experiment whose variants differ, then a list of the others by what their runs show."""
    stored: dict[str, tuple[ArmRuns, ...]] = {}
    shows: dict[Outcome, dict[str, list[Compared]]] = defaultdict(dict)
    for name, experiment in EXPERIMENTS.items():
        try:
            stored[name] = arm_runs(experiment)
        except ResultError as damaged:
            st.error(plain(str(damaged)))
        else:
            measures = compared(stored[name])
            shows[overall(measures)][name] = measures
    draw_how_to_read()
    _draw_index(stored)
    columns, lengths = st.columns(_ACROSS, gap="small"), [0] * _ACROSS
    for name, measures in sorted(shows["difference"].items(), key=lambda item: -_length(item[1])):
        shorter = lengths.index(min(lengths))
        lengths[shorter] += _length(measures)
        with columns[shorter]:
            _draw_card(EXPERIMENTS[name], stored[name], measures)
    for outcome, title in _LISTS.items():
        if shows[outcome]:
            st.markdown(f"##### {translated(title)}")
        with st.container(gap="xsmall", key=f"without_difference_{outcome}"):
            for name, measures in shows[outcome].items():
                _draw_line(EXPERIMENTS[name], stored[name], measures)


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


def _length(measures: Sequence[Compared]) -> int:
    """About how long a card is, in rows of its charts."""
    return 2 + sum(4 + len(each.rows) for each in leading(measures))


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns], measures: Sequence[Compared]) -> None:
    """Draw the question, which opens the experiment, its answer, and how its variants differ."""
    with st.container(border=True, key=f"card_{experiment.name}", gap="xsmall"):
        _draw_title(experiment)
        drawn = leading(measures)
        for measure, reply, finding in results.answers(experiment.yes, measures):
            if measure in drawn:
                draw_small_figure(forest_figure(measure), _answer(reply, finding))
            else:
                st.caption(_answer(reply, finding))
        if several := results.no_single_cause(arms):
            st.caption(plain(several))


def _draw_line(experiment: Experiment, arms: Sequence[ArmRuns], measures: Sequence[Compared]) -> None:
    """Draw the question, which opens the experiment, beside its answer or why it has none."""
    question, said = st.columns([1, 2], gap="small")
    with question:
        _draw_title(experiment)
    outcome = overall(measures)
    if outcome == "too few":
        said.caption(plain(f"{results.too_few(arms)} {results.finding(measures[0])}"))
    elif outcome != "nothing":
        for _, reply, finding in results.answers(experiment.yes, measures, intervals=True):
            said.caption(_answer(reply, finding))


def _answer(reply: str, finding: str) -> str:
    return f"**{plain(reply)}** {plain(finding)}" if reply else plain(finding)


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
