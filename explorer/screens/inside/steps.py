"""The step that the tabs of Inside share, and the recorded run up to it."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.examples import opening_step
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime, session
from model.analysis.operations import Recording, record


def choose_step(translation: Translation, key: str) -> int:
    """Draw the step slider; return the step, from 1 and shared with other pages, initially an instructive one."""
    last = len(translation.path)
    if last < 2:
        return 1
    trace = translation.trace
    # The session holds the step: the widget shows it and reports changes to it.
    here, widget = session.selection().step, f"{key}_{last}"
    summary = runtime.models().get(translation.model)
    st.session_state[widget] = min(here, last) if here else opening_step(summary, translation) if summary else last

    def label(step: int) -> str:
        reads, predicts = plain(trace.read_tokens[step - 1]), plain(trace.predicted_tokens[step - 1])
        if step <= translation.n_prompt:
            return t("{step}: reads {reads}, the prompt goes on: {next}", step=step, reads=reads, next=predicts)
        return t("{step}: reads {reads}, predicts {predicts}", step=step, reads=reads, predicts=predicts)

    options = range(1, last + 1)
    step = st.select_slider(t("Step"), options, format_func=label, key=widget, on_change=_stepped, args=(widget,))
    return int(step)


def _stepped(widget: str) -> None:
    session.move(step=st.session_state[widget])


def recorded_run(translation: Translation, step: int) -> Recording:
    """The model's run up to one step with all its rows and operations; computed once for all sessions."""
    return runtime.computed(translation.model, record, translation.source.ids, translation.path, step)
