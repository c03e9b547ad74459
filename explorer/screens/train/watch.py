"""A run being watched: progress, curves, sample translations, the attention of its heads; stop and resume."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.charts.chart import Table
from explorer.charts.training_curves import (
    evaluation_table,
    loss_figure,
    rate_figure,
    score_figure,
    score_name,
    speed_figure,
)
from explorer.locale.text import plain, why
from explorer.runs.command import WHERE, quoted_command, resume_command
from explorer.runs.lifecycle import Runs
from explorer.runs.metrics import Metrics
from explorer.runs.process import RunError
from explorer.runs.progress import (
    ALARMING,
    STATE_SENTENCES,
    diagnosis,
    headline_numbers,
    progress,
    queue_sentence,
    sample_table,
)
from explorer.runs.repeating import repeatable
from explorer.runs.status import RunStatus
from explorer.runs.viewer_mode import viewing
from explorer.screens.train.watched_sentence import draw_heads, draw_sentence
from explorer.web.faults import contained
from explorer.web.figures import draw_figure, draw_table
from explorer.web.run_metrics import metrics_of
from explorer.web.selected_run import NEW, choose_run
from explorer.web.train_again import draw_again
from explorer.web.viewer_mode import closed
from explorer.web.wrong_answers import draw_wrong_answers
from model.folder import CheckpointError

# Seconds between updates of an active run. Only two parts update: each costs Streamlit more than it costs us.
_NEWS_SECONDS, _ANSWERS_SECONDS = 1.0, 3.0
_REFUSED = "_watch_refused"
_METRIC_PIXELS = 170
_FIGURES = {"score": score_figure, "learning rate": rate_figure, "tokens/s": speed_figure}
_COLOURS = {"running": "green", "finished": "blue", "failed": "red"}


def draw_run(runs: Runs, name: str) -> None:
    """The whole view of one run; while it is active, its parts update on a timer."""
    status = runs.peek(name)
    if status is None:
        st.info(plain(f"The run '{name}' no longer exists, or its status.json cannot be read."))
        return
    busy = status.busy
    closed("Stopping, resuming and new runs are")
    st.fragment(contained("run_news")(_news), run_every=_NEWS_SECONDS if busy else None)(runs, name, status.state)
    draw_sentence(runs, name, watching=busy and not viewing())
    st.fragment(contained("run_answers")(_answers), run_every=_ANSWERS_SECONDS if busy else None)(runs, name)
    if not busy and runs.folder(name).is_dir():
        draw_wrong_answers(name)
        label = "Watch its heads form, from the first step to the last"
        st.page_link("pages/runs.py", label=label, icon=":material/movie:", query_params={"entry": name})
    with st.expander("The command"):
        run = repeatable(runs.folder(name), status)
        if run is not None and run.computed:
            st.caption(plain(f"{run.computed} The model's card has the command with these, which trains it again."))
        launch = runs.launch(name)
        if launch is not None:
            st.caption("This run was started, or last resumed, with:")
            st.code(quoted_command(launch.arguments), language="bash", wrap_lines=True)
        st.caption(f"This command, {WHERE}, continues a stopped run:")
        st.code(quoted_command(resume_command(name, runs.checkpoints)), language="bash", wrap_lines=True)


def _news(runs: Runs, name: str, drawn: str) -> None:
    """What changes constantly: state, progress, numbers, curves. A state other than `drawn` redraws the page."""
    status = runs.peek(name)
    if status is None or status.state != drawn:
        st.rerun()
        return
    metrics = metrics_of(runs, name)
    _state(runs, status, metrics)
    _curves(metrics, status.max_steps)


def _answers(runs: Runs, name: str) -> None:
    """What changes at evaluations: the attention in the watched sentence, and sample translations."""
    draw_heads(runs, name)
    _samples(metrics_of(runs, name))


def _state(runs: Runs, status: RunStatus, metrics: Metrics) -> None:
    """State, progress, numbers and buttons."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(status.state, color=_COLOURS.get(status.state, "gray"))  # type: ignore[arg-type]
        st.markdown(f"**{plain(status.name)}**", width="stretch")
        _buttons(runs, status)
    st.progress(status.share, text=plain(progress(status)))
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))
    if status.error:
        st.error(plain(status.error))
    elif status.state == "queued":
        st.info(plain(queue_sentence(status.name, runs.statuses())))
    elif status.state in STATE_SENTENCES:
        st.info(plain(STATE_SENTENCES[status.state]))
    _diagnosis(metrics, status)
    _numbers(metrics, status)


def _diagnosis(metrics: Metrics, status: RunStatus) -> None:
    """One sentence on how the run is going; a line is kept free for it, so that nothing jumps."""
    said = diagnosis(metrics, not status.busy)
    if said.verdict in ALARMING:
        st.warning(plain(said.sentence), icon=":material/monitoring:")
    elif said.sentence and (metrics.train or not status.busy):
        st.markdown(plain(said.sentence))


def _buttons(runs: Runs, status: RunStatus) -> None:
    if status.busy:
        if not viewing():
            st.button(
                "Stop",
                key="run_stop",
                disabled=status.state == "stopping",
                help="Ends after the current batch, with everything saved. Resume continues from there.",
                on_click=_do,
                args=(runs.stop, status.name),
            )
        return
    if not viewing() and st.button("New run", key="run_new", on_click=choose_run, args=(NEW,)):
        st.rerun()  # the whole page, not only this fragment
    if status.resumable and not viewing():
        st.button("Resume", key="run_resume", type="primary", on_click=_do, args=(runs.resume, status.name))
    draw_again(runs, status.name, "watch")
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


def _numbers(metrics: Metrics, status: RunStatus) -> None:
    with st.container(horizontal=True):  # side by side where there is room, in rows on a phone
        for label, value in headline_numbers(metrics, status, score_name(metrics)):
            st.metric(label, value, width=_METRIC_PIXELS)


def _curves(metrics: Metrics, max_steps: int) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        draw_figure(loss_figure(metrics, max_steps))
    with right:
        figure = st.container()  # the switch is below it, so that both curves start at the same height
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
    """The model's translations of a few validation sentences, now and one evaluation earlier."""
    st.markdown("##### What it translates")
    table = sample_table(metrics.samples)
    if table is None:
        st.caption("Translations of a few validation sentences appear here after the first evaluation.")
        return
    columns: Table = {name: list(values) for name, values in table.columns.items()}
    draw_table(columns, f"Sample translations at step {table.step}")
    st.caption(table.caption)
