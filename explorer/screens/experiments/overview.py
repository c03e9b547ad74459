"""All experiments at a glance: those with something to see as pictures with a sentence each, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from explorer.charts.chart import Figure
from explorer.charts.experiment_bands import band_figure
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs, length_curves, validation_curves
from explorer.runs.experiment_relations import LEVEL, Outcome, any_runs, measure_of, overall
from explorer.web.figures import draw_small_figure
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError

EXPERIMENT = "experiment"  # key of the one that is open, and name of its URL parameter
ALL = "all"  # its value for this overview
MEASURES = {
    "exact_match": (message("right"), message("Right on validation, in %, by updates"), " %"),
    "bleu": ("BLEU", message("BLEU on validation, by updates"), ""),
    "loss": (message("loss"), message("Loss on validation, in nats per token, by updates"), ""),
}
_ACROSS = 3


def draw_overview() -> None:
    """Draw a card for each experiment whose variants differ, then a list of the others by what their runs show."""
    stored: dict[str, tuple[ArmRuns, ...]] = {}
    for name, experiment in EXPERIMENTS.items():
        try:
            stored[name] = arm_runs(experiment)
        except ResultError as damaged:
            st.error(plain(str(damaged)))
    shows: dict[Outcome | None, list[str]] = defaultdict(list)
    for name, arms in stored.items():
        shows[overall(arms) if any_runs(arms) else None].append(name)
    st.caption(
        t(
            "Each variant is compared with the first one. Line: mean over the runs; band: lowest to highest run; n: "
            "number of runs; p: after Holm's correction, at most {level:g} needed.",
            level=LEVEL,
        )
    )
    for start in range(0, len(shows["difference"]), _ACROSS):
        columns = st.columns(_ACROSS, gap="small")
        for name, column in zip(shows["difference"][start : start + _ACROSS], columns, strict=False):
            with column:
                _draw_card(EXPERIMENTS[name], stored[name])
    _draw_list(t("As good as the first variant"), {name: _answer(stored[name], whole=True) for name in shows["equal"]})
    _draw_list(t("Undecided"), {name: _answer(stored[name], whole=True) for name in shows["undecided"]})
    _draw_list(t("Too few runs to tell"), {name: results.too_few(stored[name]) for name in shows["too few"]})
    _draw_list(t("Not run yet"), dict.fromkeys(shows[None], ""))


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Draw the question, which opens the experiment, its answer, and the curves that show it."""
    key = f"card_{experiment.name}"
    with st.container(border=True, key=key, height="stretch", gap="xsmall", vertical_alignment="distribute"):
        with st.container(gap="xsmall"):
            _draw_title(experiment)
            st.markdown(plain(_answer(arms)))
        measure = measure_of(arms)
        draw = partial(length_figure, arms) if measure == "beyond" else partial(curves_figure, arms, measure)
        with st.container(gap="xsmall"):
            draw_small_figure(draw(small=True))


def _answer(arms: Sequence[ArmRuns], *, whole: bool = False) -> str:
    """The sentences of the answer; the other results as well if it is `whole`."""
    main, others = results.answer(arms)
    return " ".join(main + others if whole else main)


def curves_figure(arms: Sequence[ArmRuns], measure: str, *, small: bool = False) -> Figure:
    """Draw one measure on validation over the updates."""
    _, title, unit = MEASURES[measure]
    top = 100.0 if measure == "exact_match" else None
    curves = validation_curves(arms, measure)
    return band_figure(curves, x_title=t("updates"), title=translated(title), unit=unit, top=top, small=small)


def length_figure(arms: Sequence[ArmRuns], *, small: bool = False) -> Figure:
    """Draw exact match by input length, within the lengths of training (split test) and beyond (split long)."""
    curves, longest = length_curves(arms)
    title = t("Right by length, in %; dashed: the longest in training, {n:.0f} letters", n=longest)
    mark = longest + 0.5
    return band_figure(curves, x_title=t("letters"), title=title, unit=" %", top=100.0, mark=mark, small=small)


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
