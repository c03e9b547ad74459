"""The Experiments page: a question, the curves and scores of its stored runs, the results, and how to repeat them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from explorer.charts.experiment_bands import SHAPES, band_figure, wide
from explorer.charts.rests import rests_plot
from explorer.locale.text import plain, plural
from explorer.runs.experiment_arms import (
    ArmRuns,
    arm_runs,
    by_length,
    length_curves,
    sample_rows,
    table,
    validation_curves,
)
from explorer.runs.experiment_findings import (
    answers_sentence,
    duration_sentence,
    findings,
    other_split_sentences,
    speed_sentence,
)
from explorer.runs.experiment_reruns import reruns
from explorer.runs.experiment_reruns import sentences as rerun_sentences
from explorer.runs.experiment_rests import MEASURES as REST_MEASURES
from explorer.runs.experiment_rests import has_rests, places, rest_sentences
from explorer.runs.experiment_verdict import verdict
from explorer.runs.lifecycle import Runs
from explorer.screens.experiments.cross_attention import draw_maps
from explorer.web import runtime
from explorer.web.address import Parameter
from explorer.web.figures import draw_figure, draw_table
from explorer.web.page_parts import draw_plot
from explorer.web.run_metrics import metrics_of
from explorer.web.training_form import fill_form
from model.commands import typed
from model.experiments.catalogue import EXPERIMENTS
from model.experiments.recipe import DEVICE, SPARING, THREADS, Experiment
from model.experiments.stored import ResultError, as_typed
from model.folder import model_folders, modified

EXPERIMENT = "experiment"  # key of the box, and name of its URL parameter
_ADDRESS = Parameter(EXPERIMENT)
MEASURES = {
    "exact_match": ("right", "Validation sentences exactly right, in %", " %"),
    "bleu": ("BLEU", "BLEU on validation", ""),
    "loss": ("loss", "Loss on validation, in nats per target token", ""),
}
_NUMBERS = {"loss on test": "%.4f", "right on test (%)": "%.1f", "BLEU on test": "%.1f"}
_FROM_CHAIN = (
    "The form trains models from the beginning, and these runs start from what other commands make. The commands below "
    "do it."
)


def draw() -> None:
    """The whole page."""
    _experiment()


def _experiment() -> None:
    """The chosen experiment: its question, its results, and how to repeat it."""
    title, box = st.columns([2, 3], vertical_alignment="center")
    with title:
        st.markdown("#### Why is the model built and trained this way?")
    with box:
        experiment = _choose()
    st.caption(plain(experiment.question))
    try:
        arms = arm_runs(experiment)
    except ResultError as damaged:
        st.error(plain(str(damaged)))
        return
    if any(one.runs for one in arms):
        _results(experiment, arms)
    else:
        st.info(_not_run(experiment))
    _repeat(experiment, arms)


def _choose() -> Experiment:
    """The box; the address holds the experiment's name, and a name that does not exist is ignored."""
    # Not bound by Streamlit, which would put the title into the address.
    asked = _ADDRESS.asked()
    if asked in EXPERIMENTS:
        st.session_state[EXPERIMENT] = asked
    chosen = st.selectbox(
        "Experiment",
        list(EXPERIMENTS),
        format_func=lambda name: EXPERIMENTS[name].title,
        key=EXPERIMENT,
        persist_state="session",
        label_visibility="collapsed",
    )
    _ADDRESS.write(chosen)
    return EXPERIMENTS[chosen]


def _not_run(experiment: Experiment) -> str:
    corpus = " --data-dir DIR" if experiment.reads_corpus else ""
    why = " It needs a corpus that does not come with Headlight." if experiment.reads_corpus else ""
    return (
        f"This experiment has not been run, so there is nothing to show.{why} "
        f"`{typed('model.experiments')} {experiment.name}{corpus}` runs it and stores its curves."
    )


def _results(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    st.markdown(f"**{plain(verdict(arms))}**")
    _curves(arms, experiment.base.metric)
    with st.expander("What the runs show, in numbers"):
        _numbers(experiment, arms)
    if any(by_length(run, "test") for one in arms for run in one.runs):
        _by_length(arms)
    if has_rests(arms):
        _rests(arms)
    _samples(arms)
    draw_maps(experiment)


def _numbers(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """What the runs show in sentences, and the table of their scores."""
    more = (*other_split_sentences(arms), speed_sentence(arms), answers_sentence(arms))
    for sentence in filter(None, (*findings(experiment, arms), *more)):
        st.markdown(f"- {plain(sentence)}")
    rows = table(arms)
    formats = {
        f"{name}{of}": st.column_config.NumberColumn(format=form)
        for name, form in _NUMBERS.items()
        for of in ("", ", lowest", ", highest")
    }
    alt = "Scores of each variant: mean, lowest and highest run"
    draw_table(rows, alt, file="scores", column_config=formats)
    st.caption(
        "Each number is the mean over the runs of a variant, beside the lowest and the highest run. Test sentences are "
        "scored with the weights that were best on validation."
    )


def _curves(arms: Sequence[ArmRuns], metric: str) -> None:
    """The curves of the stored runs, and over them those of a person's own runs with the same settings."""
    runs = Runs(runtime.CHECKPOINTS)
    name = st.segmented_control(
        "Measure",
        [metric, "loss"],
        default=metric,
        required=True,
        format_func=lambda key: MEASURES[key][0],
        key=f"experiment_measure_{metric}",
        persist_state="session",
        label_visibility="collapsed",
    )
    name = name or metric
    _, title, unit = MEASURES[name]
    top = 100.0 if name == "exact_match" else None
    newest_first = sorted(model_folders(runtime.CHECKPOINTS), key=modified, reverse=True)
    found = reruns(arms, newest_first, lambda folder: metrics_of(runs, folder.name))
    own = [(run.name, run.variant, *run.curve(name)) for run in found[: len(SHAPES)]]
    curves = validation_curves(arms, name)
    figure = band_figure(curves, x_title="updates", title=title, unit=unit, top=top, own=own)
    draw_figure(figure)
    if found:
        st.markdown("Your own runs with these settings, drawn with marks:")
        for sentence in rerun_sentences(found[: len(SHAPES)], arms, name):
            st.markdown(f"- {plain(sentence)}")
        if len(found) > len(SHAPES):
            st.caption(f"{plural(len(found) - len(SHAPES), 'more')}, not drawn.")
    with st.expander("These curves as a table"):
        draw_table(wide(figure.data), figure.caption, file="curves")


def _by_length(arms: Sequence[ArmRuns]) -> None:
    """Exact match by length of the input, within the lengths of training (split test) and beyond (split long)."""
    curves, longest = length_curves(arms)
    figure = band_figure(
        curves, x_title="letters", title="Right by length, in %", unit=" %", top=100.0, mark=longest + 0.5
    )
    draw_figure(figure)
    st.caption(plain(f"The dashed line marks the longest strings in training: {longest:.0f} letters."))
    with st.expander("By length as a table"):
        draw_table(wide(figure.data), figure.caption, file="by-length")


def _rests(arms: Sequence[ArmRuns]) -> None:
    """Where the attention of the trained models rests, layer by layer."""
    st.markdown("##### Where the attention rests")
    measure = st.segmented_control(
        "Rest measure",
        list(REST_MEASURES),
        default="first",
        required=True,
        format_func=lambda name: REST_MEASURES[name],
        key="experiment_rests",
        persist_state="session",
        label_visibility="collapsed",
    )
    measure = measure or "first"
    draw_plot(rests_plot(places(arms, measure), measure), f"experiment_rests_{measure}")
    for sentence in rest_sentences(arms):
        st.markdown(f"- {plain(sentence)}")
    st.caption(
        "Means over 200 test sentences and over all heads of a layer. In decoder self-attention the first token is "
        "<sos>, and the last is the query's own; elsewhere the last is <eos>. The largest number is that of a layer's "
        "output, in magnitude."
    )


def _samples(arms: Sequence[ArmRuns]) -> None:
    """The answers of each variant's first run to a few test sentences."""
    with st.expander("What the models answer"):
        alt = "Answers of the first run of each variant to a few test sentences"
        draw_table(sample_rows(arms), alt, file="answers")
        st.caption("The first run of each variant; an empty cell is an empty answer.")


def _repeat(experiment: Experiment, arms: Sequence[ArmRuns]) -> None:
    """Repeat one of the runs on the Train page, and the commands."""
    st.markdown("##### Run it again")
    variant, seed, button = st.columns([4, 1, 2], vertical_alignment="bottom")
    with variant:
        number = st.selectbox(
            "Variant", range(len(arms)), format_func=lambda i: arms[i].label, key=f"experiment_way_{experiment.name}"
        )
    with seed:
        chosen_seed = st.selectbox("Seed", experiment.base.seeds, key=f"experiment_seed_{experiment.name}")
    recipe = arms[number or 0].recipe
    with button:
        label = "Run it again on the Train page"
        if st.button(label, type="primary", width="stretch", disabled=bool(recipe.from_chain)):
            kept = {key: value for key, value in recipe.settings.items() if key not in SPARING}
            changes = {**kept, "seed": str(chosen_seed)}
            fill_form(
                recipe.base.task,
                recipe.preset,
                changes,
                device=DEVICE,
                precision=recipe.base.precision,
                threads=THREADS,
                source=f"the experiment '{experiment.title}', variant '{arms[number or 0].label}', seed {chosen_seed}",
            )
            st.switch_page("pages/train.py")
    if recipe.from_chain:
        st.caption(plain(_FROM_CHAIN))
    with st.expander("The commands that made these runs"):
        st.caption(plain(f"All missing runs at once: {typed('model.experiments')} {experiment.name}"))
        for one in arms:
            st.markdown(f"**{plain(one.label)}**")
            missing = as_typed("\n".join(map(shlex.join, one.recipe.commands(experiment.base.seeds[0]))))
            lines = [run.typed_command for run in one.runs] or [missing]
            st.code("\n".join(lines), language="bash", wrap_lines=True)
            if one.recipe.from_chain:
                st.caption("The first of two commands makes what a run starts from. It takes hours, but only once.")
            if one.runs:
                st.caption(plain(duration_sentence(one)))
