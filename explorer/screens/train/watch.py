"""A run being watched: how far it is, its curves, what it translates, what its heads look at; stop and resume."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.figures.training_curves import (
    evaluation_table,
    loss_figure,
    rate_figure,
    score_figure,
    score_name,
    speed_figure,
)
from explorer.figures.vega_chart import Table
from explorer.runs.command import resume_command, shown
from explorer.runs.lifecycle import Runs
from explorer.runs.metrics import Metrics
from explorer.runs.process import RunError
from explorer.runs.status import RunStatus, clock
from explorer.runs.viewer_mode import viewing
from explorer.screens.train.watched_sentence import draw_heads, draw_sentence
from explorer.text import count, plain, why
from explorer.web.figures import draw_figure, draw_table
from explorer.web.run_metrics import metrics_of
from explorer.web.selected_run import NEW, choose_run
from explorer.web.viewer_mode import closed
from model.folder import CheckpointError

# Seconds between looks at a run at work. Two parts and no more: each look costs Streamlit more than it costs us.
_NEWS_SECONDS, _ANSWERS_SECONDS = 1.0, 3.0
_REFUSED = "_watch_refused"
_METRIC_PIXELS = 170
_FIGURES = {"score": score_figure, "learning rate": rate_figure, "tokens/s": speed_figure}
_COLOURS = {"running": "green", "finished": "blue", "failed": "red"}
_WORDS = {
    "starting": "The process is starting: it reads the data and builds the model.",
    "queued": "Waiting: another run is being trained on this machine. This one starts by itself when that has ended.",
    "stopping": "Stopping after the current batch; everything is saved first.",
}


def draw_run(runs: Runs, name: str) -> None:
    """The whole view of one run; while it is at work, its parts look for news by themselves."""
    status = runs.peek(name)
    if status is None:
        st.info(plain(f"There is no run '{name}' any more, or its status.json cannot be read."))
        return
    busy = status.busy
    closed("Stopping, resuming and new runs are")
    st.fragment(_news, run_every=_NEWS_SECONDS if busy else None)(runs, name, status.state)
    draw_sentence(runs, name, watching=busy and not viewing())
    st.fragment(_answers, run_every=_ANSWERS_SECONDS if busy else None)(runs, name)
    if not busy and runs.folder(name).is_dir():
        label = "Watch its heads form, from the first step to the last"
        st.page_link("pages/runs.py", label=label, icon=":material/movie:", query_params={"entry": name})
    with st.expander("The command"):
        launch = runs.launch(name)
        if launch is not None:
            st.caption("This run was started, or last resumed, with:")
            st.code(shown(launch.arguments), language="bash", wrap_lines=True)
        st.caption("On a terminal in the project's folder, a stopped run goes on with:")
        st.code(shown(resume_command(name, runs.checkpoints)), language="bash", wrap_lines=True)


def _news(runs: Runs, name: str, drawn: str) -> None:
    """What changes all the time: state, progress, numbers, curves. Another state than `drawn` draws the page anew."""
    status = runs.peek(name)
    if status is None or status.state != drawn:
        st.rerun()
        return
    metrics = metrics_of(runs, name)
    _state(runs, status, metrics)
    _curves(metrics, status.max_steps)


def _answers(runs: Runs, name: str) -> None:
    """What changes with evaluations: the attention in the watched sentence, and sample translations."""
    draw_heads(runs, name)
    _samples(metrics_of(runs, name))


def _state(runs: Runs, status: RunStatus, metrics: Metrics) -> None:
    """State and progress, numbers, and the buttons that go with them."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(status.state, color=_COLOURS.get(status.state, "gray"))  # type: ignore[arg-type]
        st.markdown(f"**{plain(status.name)}**", width="stretch")
        _buttons(runs, status)
    st.progress(status.share, text=plain(_progress(status)))
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))
    if status.error:
        st.error(plain(status.error))
    elif status.state in _WORDS:
        st.info(plain(_WORDS[status.state]))
    _numbers(metrics, status)


def _buttons(runs: Runs, status: RunStatus) -> None:
    if status.busy:
        if not viewing():
            st.button(
                "Stop",
                key="run_stop",
                disabled=status.state == "stopping",
                help="Ends after the current batch, with everything saved. Resume goes on from there.",
                on_click=_do,
                args=(runs.stop, status.name),
            )
        return
    if not viewing() and st.button("New run", key="run_new", on_click=choose_run, args=(NEW,)):
        st.rerun()  # the whole page, not only this part of it
    if status.resumable and not viewing():
        st.button("Resume", key="run_resume", type="primary", on_click=_do, args=(runs.resume, status.name))
    entry = runs.entry(status.name)
    if entry is not None and entry.summary.get("model") and not entry.problem:
        label = "Open in Translate" if status.state == "finished" else "Open as it is"
        at = {"model": status.name}
        st.page_link("pages/translate.py", label=label, icon=":material/translate:", query_params=at)


def _do(action: Callable[[str], None], name: str) -> None:
    try:
        action(name)
    except (RunError, CheckpointError, OSError) as refused:
        st.session_state[_REFUSED] = why(refused)


def _progress(status: RunStatus) -> str:
    done = f"step {status.step:,} of {status.max_steps:,}" if status.max_steps else "no step yet"
    if status.state == "finished":
        return f"Finished at step {status.step:,}."
    if status.busy and status.eta_s is not None and status.step:
        return f"{done}, about {clock(status.eta_s)} left"
    return done


def _numbers(metrics: Metrics, status: RunStatus) -> None:
    score = score_name(metrics)
    shown_score = metrics.latest("evals", score)
    values = (
        ("Training loss", _loss(metrics.latest("train", "loss"))),
        ("Validation loss", _loss(metrics.latest("evals", "loss"))),
        ("BLEU", f"{shown_score:.1f}" if shown_score is not None else "–")
        if score == "bleu"
        else ("Exactly right", f"{100 * shown_score:.1f} %" if shown_score is not None else "–"),
        ("Learning rate", f"{rate:.2g}" if (rate := metrics.latest("train", "lr")) is not None else "–"),
        ("Tokens/s", count(status.tokens_per_s) if status.tokens_per_s else "–"),
    )
    with st.container(horizontal=True):  # side by side where there is room, in rows on a phone
        for label, value in values:
            st.metric(label, value, width=_METRIC_PIXELS)


def _loss(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _curves(metrics: Metrics, max_steps: int) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        draw_figure(loss_figure(metrics, max_steps))
    with right:
        figure = st.container()  # the switch stands below, so that both curves begin at one height
        which = st.segmented_control(
            "Right-hand curve",
            list(_FIGURES),
            default="score",
            required=True,
            key="run_curve",
            label_visibility="collapsed",
        )
        with figure:
            draw_figure(_FIGURES.get(which or "score", score_figure)(metrics, max_steps))
    table = st.expander("The evaluations as a table", on_change="rerun", key="run_table")
    if table.open:
        table.dataframe(evaluation_table(metrics), hide_index=True)


def _samples(metrics: Metrics) -> None:
    """What the model makes of a few validation sentences, now and one evaluation earlier."""
    st.markdown("##### What it translates")
    samples = metrics.samples
    if not samples:
        st.caption("The first evaluation is still to come: a few validation sentences, translated, will stand here.")
        return
    step, now = samples[-1]
    before = {sample.source: sample.prediction for sample in samples[-2][1]} if len(samples) > 1 else {}
    columns: Table = {
        "source": [sample.source for sample in now],
        "right answer": [sample.target for sample in now],
        "model's answer": [sample.prediction for sample in now],
        "": ["right" if sample.prediction == sample.target else "" for sample in now],
        "one evaluation earlier": [before.get(sample.source, "") for sample in now],
    }
    right = sum(sample.prediction == sample.target for sample in now)
    draw_table(columns, f"Sample translations at step {step}")
    st.caption(f"At step {step:,}, {right} of these {len(now)} validation sentences are exactly right.")
