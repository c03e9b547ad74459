"""All experiments at a glance: those with something to see as pictures with a sentence each, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import streamlit as st

from explorer.charts.experiment_bands import band_figure, dot_figure
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs, validation_curves
from explorer.runs.experiment_relations import Outcome, measure_of, overall
from explorer.web.figures import draw_small_figure
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError

EXPERIMENT = "experiment"  # key of the box of experiments, and name of its URL parameter
ALL = "all"  # its value for this overview
MEASURES = {
    "exact_match": (message("right"), message("Validation sentences exactly right, in %"), " %"),
    "bleu": ("BLEU", message("BLEU on validation"), ""),
    "loss": (message("loss"), message("Loss on validation, in nats per target token"), ""),
}
_ACROSS = 2
_CARD = 6  # the height of a card beside that of a variant


def draw_overview() -> None:
    """Draw a card for each experiment whose variants differ, then lists of the others by what their runs show."""
    stored: dict[str, tuple[ArmRuns, ...]] = {}
    for name, experiment in EXPERIMENTS.items():
        try:
            stored[name] = arm_runs(experiment)
        except ResultError as damaged:
            st.error(plain(str(damaged)))
    run = {name: arms for name, arms in stored.items() if any(arm.runs for arm in arms)}
    shows: dict[Outcome, dict[str, tuple[ArmRuns, ...]]] = defaultdict(dict)
    for name, arms in run.items():
        shows[overall(arms)][name] = arms
    st.caption(
        t(
            "Numbers are means over runs with different seeds, in brackets the lowest and the highest; a dot is a run. "
            "A difference is named if it passes the test that its card names and is large enough: 1 point of the "
            "score, updates that two evaluations lie between, or a factor of 2 of the loss. “As good as” means that a "
            "test shows the scores to be less than 1 point apart, for other seeds and on these test sentences. Several "
            "experiments share their first variant, so their results are not independent."
        )
    )
    columns, filled = st.columns(_ACROSS), [0] * _ACROSS
    for name, arms in shows["difference"].items():
        shortest = filled.index(min(filled))
        filled[shortest] += _CARD + len(arms)
        with columns[shortest]:
            _draw_card(EXPERIMENTS[name], arms)
    _draw_list(t("As good as each other"), shows["equal"])
    _draw_list(t("Not shown to differ, nor all to be as good"), shows["undecided"])
    _draw_list(t("Too few runs to tell"), shows["too few"], brief=True)
    _draw_list(t("Not run yet"), {name: arms for name, arms in stored.items() if name not in run})


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Draw the title, which opens the experiment, what differs in a sentence or two, and its curves."""
    with st.container(border=True):
        _draw_title(experiment)
        st.caption(plain(translated(experiment.question)))
        st.markdown(f"**{unbroken(' '.join(results.answer(arms)))}**")
        st.markdown(unbroken(results.numbers(experiment, arms)))
        st.caption(unbroken(results.conditions(arms)))
        scores = {arm.label: arm.scores() for arm in arms}
        draw_small_figure(dot_figure(scores, translated(arms[0].metric.column)), less=0)
        measure = measure_of(arms)
        _, title, unit = MEASURES[measure]
        top = 100.0 if measure == "exact_match" else None
        curves = validation_curves(arms, measure)
        draw_small_figure(band_figure(curves, x_title=t("updates"), title=translated(title), unit=unit, top=top))


def _draw_list(title: str, experiments: dict[str, tuple[ArmRuns, ...]], *, brief: bool = False) -> None:
    """Draw a line for each experiment: what it shows with its conditions or, if `brief`, how many runs are missing."""
    if not experiments:
        return
    st.markdown(f"##### {title}")
    for name, arms in experiments.items():
        left, right = st.columns([2, 3], vertical_alignment="center")
        with left:
            _draw_title(EXPERIMENTS[name])
        if not any(arm.runs for arm in arms):
            said = [translated(EXPERIMENTS[name].question)]
        elif brief:
            said = [results.too_few(arms)]
        else:
            said = [*results.answer(arms), results.numbers(EXPERIMENTS[name], arms), results.conditions(arms)]
        right.caption(unbroken(" ".join(said)))


def unbroken(sentence: str) -> str:
    """Escape a sentence, and keep each percent sign on the line of its number."""
    return plain(sentence).replace(" %", "\N{NO-BREAK SPACE}%")


def _draw_title(experiment: Experiment) -> None:
    label, key = f"**{plain(translated(experiment.title))}**", f"open_{experiment.name}"
    st.button(label, key=key, type="tertiary", on_click=_open, args=(experiment.name,))


def _open(name: str) -> None:
    st.session_state[EXPERIMENT] = name
