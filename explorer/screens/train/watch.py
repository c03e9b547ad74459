"""A watched run: progress, curves, sample translations, the attention of its heads, Stop and Resume."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from explorer.browser.film import Film, Frame, film_view
from explorer.charts.training_curves import score_name
from explorer.decoding.examples import FILES, examples_of
from explorer.decoding.names import name_in_kind
from explorer.locale.glossary import explain, explained
from explorer.locale.messages import t, translated
from explorer.locale.text import capitalised, plain, quoted
from explorer.runs.command import quoted_command
from explorer.runs.lifecycle import MAX_PROBE_TEXT, Runs
from explorer.runs.metrics import Metrics
from explorer.runs.origin import losses_are_alike
from explorer.runs.progress import (
    ALARMING,
    STATE_SENTENCES,
    caught_up,
    diagnosis_of,
    early_end,
    headline_numbers,
    kept_step,
    may_end_early,
    progress,
    queue_sentence,
    sample_table,
    starting_sentence,
    up_to,
    watched_trace,
    why_ended,
    written_text,
)
from explorer.runs.status import RunStatus
from explorer.runs.viewer_mode import REASON, viewing
from explorer.screens.train.next_step import draw_next_steps, draw_trial
from explorer.web import live_page
from explorer.web.choose_head import choose_kind
from explorer.web.faults import contained
from explorer.web.figures import draw_table
from explorer.web.runs import (
    NEW,
    attempt,
    choose_run,
    draw_again,
    draw_curves,
    draw_refused,
    draw_wrong_answers,
    metrics_of,
)
from explorer.web.security import closed
from model.analysis.run_diagnosis import Diagnosis
from model.data.proposal import first_look

# Seconds between updates of an active run. Only two parts update, because each update is expensive in Streamlit.
_NEWS_SECONDS, _ANSWERS_SECONDS = 1.0, 3.0
_RUN, _SENTENCE = "run", "sentence"  # where refusals are shown
_METRIC_PIXELS = 174  # two beside each other on a phone
_WITH_INTERVAL_PIXELS = 250
_COLOURS = {"running": "green", "finished": "blue", "failed": "red"}


def draw_run(runs: Runs, name: str) -> None:
    """Draw the whole view of one run; while it is active, its parts update on a timer."""
    status = runs.peek(name)
    if status is None:
        st.info(plain(t("The run “{name}” no longer exists, or its status.json cannot be read.", name=name)))
        return
    busy = status.busy
    closed(t("Stopping, resuming and new runs are switched off: {reason}.", reason=translated(REASON)))
    st.fragment(contained("run_news")(_news), run_every=_NEWS_SECONDS if busy else None)(runs, name, status.state)
    _draw_sentence(runs, name, watching=busy and not viewing())
    st.fragment(contained("run_answers")(_answers), run_every=_ANSWERS_SECONDS if busy else None)(runs, name)
    if not busy and runs.entry(name) is not None:
        label = t("Watch its heads form")
        st.page_link("pages/runs.py", label=label, icon=":material/movie:", query_params={"entry": name})
    if (launch := runs.launch(name)) is not None:
        with st.expander(t("The command")):
            st.caption(t("This run was started, or last resumed, with:"))
            st.code(quoted_command(launch.arguments), language="bash", wrap_lines=True)


def _news(runs: Runs, name: str, drawn: str) -> None:
    """Draw what changes constantly: state, progress, numbers, curves. If the state is not `drawn`, redraw the page."""
    status = runs.peek(name)
    if status is None or status.state != drawn:
        st.rerun()
        return
    metrics = metrics_of(runs, name)
    entry = runs.entry(name)
    kept = 0 if status.busy or entry is None else kept_step(metrics, entry.summary)
    _state(runs, status, metrics, kept)
    alike = losses_are_alike(runs.folder(name))
    draw_curves(metrics, alike, key="run", max_steps=status.max_steps if status.busy else 0, mark=kept or None)


def _answers(runs: Runs, name: str) -> None:
    """Draw what changes at evaluations: the attention in the watched sentence, and sample translations."""
    _draw_heads(runs, name)
    metrics, entry = metrics_of(runs, name), runs.entry(name)
    kept = 0 if entry is None or entry.busy else kept_step(metrics, entry.summary)
    _samples(up_to(metrics, kept if kept in dict(metrics.samples) else 0))


def _state(runs: Runs, status: RunStatus, metrics: Metrics, kept: int) -> None:
    """Draw state, progress, numbers and buttons, and one sentence on how the run is going; see :func:`kept_step`."""
    entry = runs.entry(status.name)
    summary = {} if entry is None else entry.summary
    course = diagnosis_of(metrics, status.busy, summary)
    with st.container(key="watch_actions", horizontal=True, vertical_alignment="center"):
        st.badge(translated(status.state), color=_COLOURS.get(status.state, "gray"))  # type: ignore[arg-type]
        _buttons(runs, status, course)
    training = summary.get("training") or {}
    status, reason = caught_up(status, metrics), why_ended(status, metrics, training)
    early, coming = may_end_early(status, metrics, training), early_end(status, metrics, training)
    st.progress(status.share, text=plain(progress(status, reason, early=early, coming=coming)))
    draw_refused(_RUN)
    if status.error:
        st.error(plain(status.error))
    elif status.state == "queued":
        st.info(plain(queue_sentence(runs.statuses(), status.name)))
    elif status.state == "starting" and status.started:
        st.info(plain(starting_sentence(status)))
    elif status.state in STATE_SENTENCES:
        st.info(plain(translated(STATE_SENTENCES[status.state])))
    every = training.get("eval_every")
    if status.state == "running" and not metrics.evals and isinstance(every, int):
        first = 0 if metrics.looks else first_look(status.max_steps, every)
        first = first or min(every, status.max_steps)
        st.markdown(t("Score, answers and heads come next at step {step:,}.", step=first))
    elif course.verdict in ALARMING:
        st.warning(explained(course.sentence), icon=":material/monitoring:")
    elif course.sentence and (metrics.train or not status.busy):
        st.markdown(explained(course.sentence))
    draw_next_steps(runs, status, course)
    if kept:
        sentence = t(
            "Kept are the weights of step {step:,}, the best on validation: the numbers below are theirs, and they are "
            "what you try and open. The curves show this step as a dashed line.",
            step=kept,
        )
        st.caption(sentence)
    if not status.busy and entry is not None and entry.summary.get("model") and not entry.problem:
        draw_trial(entry)
    if metrics.train or metrics.evals:
        _numbers(up_to(metrics, kept))
    if not status.busy and entry is not None and entry.summary.get("model") and not entry.problem:
        draw_wrong_answers(entry, quiet=True)


def _buttons(runs: Runs, status: RunStatus, course: Diagnosis) -> None:
    if status.busy:
        if not viewing():
            st.button(
                t("Stop"),
                key="run_stop",
                disabled=status.state == "stopping",
                help=t("Ends after the current batch, with everything saved. Resume continues from there."),
                on_click=attempt,
                args=(_RUN, runs.stop, status.name),
            )
        return
    if not viewing() and st.button(t("New run"), key="run_new", on_click=choose_run, args=(NEW,)):
        st.rerun()  # the whole page, not only this fragment
    if status.resumable and not viewing():
        resume = (_RUN, runs.resume, status.name)
        wanted: Literal["primary", "secondary"] = "primary" if "longer" in course.next else "secondary"
        st.button(t("Resume"), key="run_resume", type=wanted, on_click=attempt, args=resume)
    draw_again(runs, status.name, "watch")
    entry = runs.entry(status.name)
    if entry is not None and entry.summary.get("model") and not entry.problem:
        label = t("Open in Translate") if status.state == "finished" else t("Open as it is")
        at = {"model": status.name}
        st.page_link("pages/translate.py", label=label, icon=":material/translate:", query_params=at)
        text = runs.watched(status.name) or next((example.source for example in examples_of(entry.summary)), "")
        live_page.draw(status.name, text, own_pairs=entry.summary.get("task") == FILES, key="watch")


def _numbers(metrics: Metrics) -> None:
    with st.container(horizontal=True):  # side by side if there is room, in rows on a phone
        for label, value in headline_numbers(metrics, score_name(metrics)):
            help = translated(explain("BLEU").explanation) if "BLEU" in label else None
            st.metric(label, value, width=_WITH_INTERVAL_PIXELS if "(" in value else _METRIC_PIXELS, help=help)


def _samples(metrics: Metrics) -> None:
    """Draw the model's translations of a few validation sentences, once there are."""
    table = sample_table(metrics.samples)
    if table is None:
        return
    st.markdown(f"##### {t('What it translates at step {step:,}', step=metrics.samples[-1][0])}")
    draw_table(table, t("Sample translations"), file="samples", wrap=True)


def _draw_sentence(runs: Runs, name: str, *, watching: bool) -> None:
    """Draw the field for the watched sentence, which only an active run reads."""
    if not runs.folder(name).is_dir():
        return
    st.markdown(f"##### {t('What its heads look at')}")
    key = f"probe_text_{name}"
    asked = runs.watched(name)
    if not asked and watching:
        entry = runs.entry(name)
        examples = examples_of(entry.summary) if entry is not None and entry.summary.get("task") else ()
        if examples and (asked := examples[0].source):
            attempt(_SENTENCE, runs.watch, name, asked)
    if not watching:
        return
    drawn = f"_{key}_seen"
    if key not in st.session_state or st.session_state.get(drawn) != asked:
        # Another session may have chosen another sentence: the field shows the one that is drawn below.
        st.session_state[key] = st.session_state[drawn] = asked
    st.text_input(
        t("Sentence to watch"),
        key=key,
        persist_state="session",
        max_chars=MAX_PROBE_TEXT,
        placeholder=t("Type a sentence and press Enter"),
        help=t("It is translated at each evaluation, and the attention of every head is shown below."),
        on_change=_watch,
        args=(runs, name, key),
    )
    draw_refused(_SENTENCE)


def _watch(runs: Runs, name: str, key: str) -> None:
    text = str(st.session_state[key]).strip()
    if text and runs.folder(name).is_dir():
        attempt(_SENTENCE, runs.watch, name, text)


def _draw_heads(runs: Runs, name: str) -> None:
    """Draw the attention of every head in the watched sentence at the last evaluation."""
    if not runs.folder(name).is_dir():
        return
    trace = watched_trace(runs.folder(name))  # before its step, which is written after it
    status = runs.peek(name)
    if status is None or trace is None:
        st.caption(t("The heads appear here after the first evaluation."))
        return
    kind = choose_kind("probe_kind")
    frame = Frame.of(trace, kind, status.probe_step or status.step)
    film = Film(f"{name} {kind} {frame.layers} {frame.heads}", kind, (frame,), frame.layers)
    place = film_view(film, key="probe_film")
    evals = metrics_of(runs, name).evals
    if status.busy and evals and evals[-1]["step"] > frame.step:
        st.caption(t("The heads of step {step:,.0f} follow in a moment.", step=evals[-1]["step"]))
    caption = t(
        "At step {step:,} the model answers {answer}. {head}: {looks}",
        step=frame.step,
        answer=quoted(text) if (text := written_text(trace)) else t("(nothing)"),
        head=capitalised(name_in_kind(place.layer, place.head)),
        looks=frame.caption(kind, place.layer, place.head),
    )
    st.caption(plain(caption))
    table = st.expander(t("This head as a table"), on_change="rerun", key="probe_table")
    if table.open:
        table.dataframe(frame.table(place.layer, place.head), hide_index=True)
