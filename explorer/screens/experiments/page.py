"""The Experiments page: all experiments at a glance, or one with its curves, its scores, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import streamlit as st

from explorer.charts.chart import Figure
from explorer.charts.experiment_bands import wide
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.runs import experiment_findings as results
from explorer.runs.experiment_arms import ArmRuns, arm_runs, length_curves, sample_rows, table
from explorer.runs.experiment_relations import overall
from explorer.screens.experiments.overview import (
    ALL,
    EXPERIMENT,
    MEASURES,
    curves_figure,
    draw_overview,
    length_figure,
    open_experiment,
)
from explorer.web import address
from explorer.web.figures import draw_figure, draw_table
from explorer.web.runs import choose_one
from model.commands import typed
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import Experiment
from model.experiments.stored import ResultError, as_typed


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
    few = [t("Too few runs to tell")], [results.too_few(arms)]
    main, others = few if overall(arms) == "too few" else results.answer(arms)
    st.markdown(f"**{plain(' '.join(main))}**\n" + "".join(f"\n- {plain(other)}" for other in others))
    _draw_markdown_table(results.rows(arms))
    st.caption(plain(results.conditions(arms)))
    figures = [_curves(arms, experiment.base.metric)]
    if length_curves(arms)[1]:
        figures.append(length_figure(arms))
        draw_figure(figures[1])
    with st.expander(t("What the runs show, in numbers")):
        _numbers(arms, figures)
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
    """State what is compared, by which test, and what a verdict needs."""
    return t(
        "Tables have means over seeds (lowest to highest) of the weights that were best on validation. The "
        "comparisons of a variant: score, equality of scores, updates to the target, loss, and score beyond where "
        "that was tested. A verdict needs an exact rank-sum test, 5 % after Holm's correction over the experiment, and "
        "a difference of 1 point, of two evaluations' updates, or of a factor of 2 in the loss. “As good” holds for "
        "other seeds on these test sentences (one of 96 is 1.04 points). p is after the correction. “Beyond”: "
        "strings longer than any in training. Experiments share first variants, so they are not independent."
    )


def _draw_markdown_table(rows: Sequence[Mapping[str, str]]) -> None:
    """Draw a table whose cells take as many lines as they need."""
    head, *lines = (" | ".join(map(plain, line)) for line in (rows[0], *(row.values() for row in rows)))
    st.caption("\n".join(f"| {line} |" for line in (head, " | ".join(["---"] * len(rows[0])), *lines)))


def _numbers(arms: Sequence[ArmRuns], figures: Sequence[Figure]) -> None:
    """Draw why runs failed, the table of the scores, and those of the figures."""
    st.markdown("\n".join(f"- {plain(failure)}" for failure in results.failures(arms)))
    decimals = {t("loss on test"): "%.4f", t("right on test (%)"): "%.1f", t("BLEU on test"): "%.1f"}
    formats = {
        column: st.column_config.NumberColumn(format=form)
        for name, form in decimals.items()
        for column in (name, t("{name}, lowest", name=name), t("{name}, highest", name=name))
    }
    alt = t("Scores of each variant: mean, lowest and highest run")
    draw_table(table(arms), alt, file="scores", column_config=formats)
    for figure, file in zip(figures, ("curves", "by-length"), strict=False):
        st.markdown(f"**{plain(figure.title)}**")
        draw_table(wide(figure.data), figure.caption, file=file)


def _curves(arms: Sequence[ArmRuns], metric: str) -> Figure:
    """Draw the curves of the stored runs by the measure that is chosen, and return them."""
    names = {key: translated(MEASURES[key][0]) for key in (metric, "loss")}
    shared = {"format_func": names.__getitem__, "persist_state": "session"}
    name = choose_one(t("Measure"), list(names), key=f"experiment_measure_{metric}", **shared)
    figure = curves_figure(arms, name)
    draw_figure(figure)
    return figure


def _commands(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Draw the commands of the runs."""
    with st.expander(t("How to repeat these runs, and what they cost")):
        if costs := results.cost_rows(arms):
            _draw_markdown_table(costs)
            st.caption(plain(results.cost_sentence(arms)))
        everything = f"{typed('model.experiments')} {experiment.name}"
        st.caption(plain(t("All missing runs at once: {command}", command=everything)))
        for arm in arms:
            st.markdown(f"**{plain(arm.label)}**")
            missing = as_typed("\n".join(map(shlex.join, arm.recipe.commands(arm.recipe.seeds[0]))))
            lines = [run.typed_command for run in arm.runs] or [missing]
            st.code("\n".join(lines), language="bash", wrap_lines=True)
            if arm.recipe.from_chain:
                st.caption(
                    t("The first of two commands makes the files that a run starts from. It takes hours, but once.")
                )
