"""The Experiments page: all experiments at a glance, or one with its curves, its scores, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from explorer.charts.chart import Figure
from explorer.charts.experiment_bands import band_figure, wide
from explorer.charts.forest import forest_figure
from explorer.files.tables import Rows
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import (
    ArmRuns,
    arm_runs,
    length_curves,
    sample_rows,
    table,
    validation_curves,
    with_ranges,
)
from explorer.runs.experiment_relations import Compared, compared, overall
from explorer.screens.experiments.overview import ALL, EXPERIMENT, draw_how_to_read, draw_overview, open_experiment
from explorer.web import address
from explorer.web.figures import draw_figure, draw_small_figure, draw_table, table_height
from explorer.web.runs import choose_one
from model.commands import typed
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError, as_typed

_RANGE = 150  # pixels of a mean with its range
_MOST_ROWS = 20  # of a table that are in sight
_CODE = 120  # pixels of the commands of a variant, which scroll
_MEASURES = {
    "exact_match": (message("right"), message("Right on validation, in %, by updates"), " %"),
    "bleu": ("BLEU", message("BLEU on validation, by updates"), ""),
    "loss": (message("loss"), message("Loss on validation, in nats per token, by updates"), ""),
}


def draw() -> None:
    """Draw all experiments, or the chosen one: its question, its results, and how to repeat it."""
    experiment = _chosen()
    if experiment is None:
        st.markdown(f"#### {t('Why is the model built and trained this way?')}")
        draw_overview()
        return
    all_experiments, icon = t("All experiments"), ":material/arrow_back:"
    st.button(all_experiments, key="open_all", type="tertiary", icon=icon, on_click=open_experiment, args=(ALL,))
    st.markdown(f"#### {plain(translated(experiment.title))}")
    st.caption(plain(translated(experiment.question)))
    try:
        arms = arm_runs(experiment)
    except ResultError as damaged:
        st.error(plain(str(damaged)))
        return
    if any(arm.runs for arm in arms):
        _results(experiment, arms)
    else:
        st.info(_not_run(experiment))
    _commands(experiment, arms)


def _chosen() -> Experiment | None:
    """The experiment that the address or a card names, None for all; an unknown name is ignored."""
    asked = address.EXPERIMENT.asked().get(EXPERIMENT)
    if asked == ALL or asked in EXPERIMENTS:
        open_experiment(asked)
    chosen = st.session_state.get(EXPERIMENT, ALL)
    address.EXPERIMENT.write({EXPERIMENT: chosen})
    return EXPERIMENTS.get(chosen)


def _not_run(experiment: Experiment) -> str:
    folder = " --data-dir DIR" if experiment.reads_corpus else ""
    return t(
        "This experiment has not been run, so there is nothing to show. `{command}` runs it and stores its curves.",
        command=f"{typed('model.experiments')} {experiment.name}{folder}",
    )


def _results(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    measures = compared(arms)
    drawn = [each for each in measures if each.has_intervals]
    if overall(measures) == "too few":
        st.markdown(f"**{t('Too few runs to tell')}.** {plain(results.too_few(arms))}")
    elif measures:
        for _, *answer in results.answers(experiment.yes, measures):
            st.markdown(f"**{plain(' '.join(answer).strip())}**")
    if drawn:
        draw_how_to_read()
    for nth in range(0, len(drawn), 2):
        for measure, column in zip(drawn[nth : nth + 2], st.columns(2), strict=False):
            with column:
                draw_small_figure(forest_figure(measure))
    for measure in measures:
        if measure not in drawn:
            st.caption(plain(results.finding(measure)))
    st.caption(plain(" ".join(filter(None, (results.conditions(arms), results.no_single_cause(arms))))))
    figures = [_curves(arms, experiment.base.metric)]
    if length_curves(arms)[1]:
        figures.append(_length_figure(arms))
        draw_figure(figures[1])
    with st.expander(t("What the runs show, in numbers")):
        _numbers(arms, figures, drawn)
    with st.expander(t("What the models answer")):
        draw_table(
            sample_rows(arms),
            t("Answers of the first run of each variant to a few test sentences"),
            file="answers",
        )
        st.caption(t("The first run of each variant; an empty cell is an empty answer."))
    with st.expander(t("How a verdict is made")):
        st.markdown(_procedure())


def _procedure() -> str:
    """State what is compared, how an interval is made, and what a verdict needs."""
    return t(
        "Every variant is compared with the first one by its score on test sentences, the updates until validation "
        "first reached the target, the loss, and the score beyond the trained lengths if that was tested; by "
        "updates or loss only if all runs have one. The shift is the median difference of two runs, one of each. "
        "Its interval has the shifts that an exact rank-sum test does not reject, at 5 % divided by the number of "
        "comparisons in the experiment, so that all its intervals hold together. A variant differs if its interval "
        "leaves out 0 and the shift is at least 1 point, two evaluations or a factor of 2; it is as good if the "
        "interval lies within that. If the interval leaves out 0 and neither holds, only the direction is decided "
        "(size open). All hold for other seeds on these sentences. A run that failed has 0 right. "
        "Tables have the mean of the weights that were best on validation, and the lowest to highest run. "
        "Experiments share first variants, so they are not independent."
    )


def _numbers(arms: Sequence[ArmRuns], figures: Sequence[Figure], measures: Sequence[Compared]) -> None:
    """Draw why runs failed, and the tables of the scores, of the shifts, and of the figures."""
    st.markdown("\n".join(f"- {plain(failure)}" for failure in results.failures(arms)))
    alt = t("Scores of each variant: mean, lowest and highest run")
    tables: dict[str, tuple[str, Rows, str]] = {"scores": ("", table(arms), alt)}
    tables |= {
        f"shifts-{each.measure}": (results.named(each), results.shift_rows(each), results.finding(each, intervals=True))
        for each in measures
    }
    tables |= {
        file: (figure.title, wide(figure.data), figure.caption)
        for file, figure in zip(("curves", "by-length"), figures, strict=False)
    }
    st.caption(alt)
    for file, (title, rows, about) in tables.items():
        if title:
            st.markdown(f"**{plain(title)}**")
        shown, height = with_ranges(rows), table_height(len(rows), most=_MOST_ROWS)
        wide_enough = {name: st.column_config.Column(width=_RANGE) for name in list(shown[0])[1:] if title}
        draw_table(shown, about, file=file, in_file=rows, height=height, column_config=wide_enough)


def _curves(arms: Sequence[ArmRuns], metric: str) -> Figure:
    """Draw the curves of the stored runs by the measure that is chosen, and return them."""
    names = {key: translated(_MEASURES[key][0]) for key in (metric, "loss")}
    shared = {"format_func": names.__getitem__, "persist_state": "session"}
    name = choose_one(t("Measure"), list(names), key=f"experiment_measure_{metric}", **shared)
    _, title, unit = _MEASURES[name]
    top = 100.0 if name == "exact_match" else None
    curves = validation_curves(arms, name)
    figure = band_figure(curves, x_title=t("updates"), title=translated(title), unit=unit, top=top)
    draw_figure(figure)
    return figure


def _length_figure(arms: Sequence[ArmRuns]) -> Figure:
    """Draw exact match by input length, within the lengths of training (split test) and beyond (split long)."""
    curves, longest = length_curves(arms)
    title = t("Right by length, in %; dashed: the longest in training, {n:.0f} letters", n=longest)
    return band_figure(curves, x_title=t("letters"), title=title, unit=" %", top=100.0, mark=longest)


def _commands(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Draw the commands of the runs."""
    with st.expander(t("How to repeat these runs, and what they cost")):
        if costs := results.cost_rows(arms):
            draw_table(costs, results.cost_sentence(arms))
            st.caption(plain(results.cost_sentence(arms)))
        everything = f"{typed('model.experiments')} {experiment.name}"
        st.caption(plain(t("All missing runs at once: {command}", command=everything)))
        for arm in arms:
            st.markdown(f"**{plain(arm.label)}**")
            missing = as_typed("\n".join(map(shlex.join, arm.recipe.commands(arm.recipe.seeds[0]))))
            lines = [as_typed(run.command) for run in arm.runs] or [missing]
            st.code("\n".join(lines), language="bash", height=_CODE if len(lines) > 1 else "content")
            if arm.recipe.from_chain:
                st.caption(
                    t("The first of two commands makes the files that a run starts from. It takes hours, but once.")
                )
