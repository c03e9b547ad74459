"""All experiments at a glance: those with something to see as pictures with a sentence each, the others as a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import streamlit as st

from explorer.charts.chart import Figure
from explorer.charts.experiment_bands import band_figure
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs, length_curves, validation_curves
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
        t("Each card answers beside its first variant. “Undecided”: neither better or worse nor as good is shown."),
        help=t(
            "Tables have means over seeds (lowest to highest) of the weights that were best on validation. The "
            "comparisons of a variant: score, equality of scores, updates to the target, loss, and score beyond where "
            "that was tested. A verdict needs an exact rank-sum test, 5 % after Holm's correction over the card, and a "
            "difference of 1 point, of two evaluations' updates, or of a factor of 2 in the loss. “As good” holds for "
            "other seeds on these test sentences (one of 96 is 1.04 points). p is before the correction. “Beyond”: "
            "strings longer than any in training. Experiments share first variants, so they are not independent."
        ),
    )
    _draw_cards(shows["difference"], with_curves=True)
    _draw_cards(shows["equal"] | shows["undecided"], with_curves=False)
    _draw_list(t("Too few runs to tell"), shows["too few"])
    _draw_list(t("Not run yet"), [name for name in stored if name not in run])


def _draw_cards(experiments: dict[str, tuple[ArmRuns, ...]], *, with_curves: bool) -> None:
    """Draw cards in columns, each in the one that is shortest so far."""
    columns, filled = st.columns(_ACROSS), [0] * _ACROSS
    for name, arms in experiments.items():
        shortest = filled.index(min(filled))
        filled[shortest] += _CARD + len(arms)
        with columns[shortest]:
            _draw_card(EXPERIMENTS[name], arms, with_curves=with_curves)


def _draw_card(experiment: Experiment, arms: Sequence[ArmRuns], *, with_curves: bool) -> None:
    """Draw the title, which opens the experiment, its answer, the numbers behind it, and its curves."""
    with st.container(border=True, key=f"card_{experiment.name}"):
        _draw_title(experiment)
        draw_answer(arms)
        if with_curves:
            measure = measure_of(arms)
            draw_small_figure(length_figure(arms) if measure == "beyond" else curves_figure(arms, measure))


def curves_figure(arms: Sequence[ArmRuns], measure: str) -> Figure:
    """Draw one measure on validation over the updates."""
    _, title, unit = MEASURES[measure]
    top = 100.0 if measure == "exact_match" else None
    curves = validation_curves(arms, measure)
    return band_figure(curves, x_title=t("updates"), title=translated(title), unit=unit, top=top)


def length_figure(arms: Sequence[ArmRuns]) -> Figure:
    """Draw exact match by input length, within the lengths of training (split test) and beyond (split long)."""
    curves, longest = length_curves(arms)
    title = t("Right by length, in %; dashed: the longest in training, {n:.0f} letters", n=longest)
    return band_figure(curves, x_title=t("letters"), title=title, unit=" %", top=100.0, mark=longest + 0.5)


def draw_answer(arms: Sequence[ArmRuns]) -> None:
    """Draw the answer of an experiment that has runs, a table with the numbers behind it, and the conditions."""
    st.markdown(f"**{plain(results.answer(arms))}**")
    rows = results.rows(arms)
    head, *lines = (" | ".join(map(plain, line)) for line in (rows[0], *(row.values() for row in rows)))
    st.caption("\n".join(f"| {line} |" for line in (head, " | ".join(["---"] * len(rows[0])), *lines)))
    st.caption(plain(results.conditions(arms)))


def _draw_list(title: str, experiments: Iterable[str]) -> None:
    """Draw the titles of experiments, which open them."""
    if experiments:
        st.markdown(f"##### {title}")
    for name in experiments:
        _draw_title(EXPERIMENTS[name])


def _draw_title(experiment: Experiment) -> None:
    label, key = plain(translated(experiment.title)), f"open_{experiment.name}"
    st.button(label, key=key, type="tertiary", on_click=_open, args=(experiment.name,))


def _open(name: str) -> None:
    st.session_state[EXPERIMENT] = name
