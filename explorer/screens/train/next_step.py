"""The buttons below the verdict on a run that has ended: what to do next."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.cache import cached
from explorer.decoding.domain import doubts_of
from explorer.decoding.examples import FILES, examples_of, place_in_data
from explorer.decoding.translator import InputError
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.runs.command import like_command
from explorer.runs.lifecycle import MAX_PROBE_TEXT, Entry, Runs
from explorer.runs.next_step import changes_for
from explorer.runs.origin import repeatable
from explorer.runs.settings import described
from explorer.runs.status import RunStatus
from explorer.runs.viewer_mode import viewing
from explorer.web import runtime
from explorer.web.runs import NEW, choose_run, draw_start
from model.analysis.run_diagnosis import Diagnosis, NextStep
from model.config import DecodeConfig
from model.folder import CheckpointError


def draw_next_steps(runs: Runs, status: RunStatus, course: Diagnosis) -> None:
    """Draw a button for each next step that is possible; none for a run that is busy or on a read-only server."""
    if status.busy or viewing() or not course.next:
        return
    run = repeatable(runs.folder(status.name), status)
    entry = runs.entry(status.name)
    own = entry is not None and entry.summary.get("task") == FILES
    with st.container(horizontal=True, vertical_alignment="center"):
        for step in course.next:
            if step == "more pairs":
                if own:
                    st.button(t("Bring more pairs"), key="next_pairs", on_click=_new_pairs)
            elif run is not None and not run.missing:
                _draw_run(runs, status.name, step)


def draw_trial(entry: Entry) -> None:
    """Draw the field for a source of one's own, and what the model of a run that has ended answers."""
    text = st.text_input(
        t("Try it on a source like those in its data: type one and press Enter"),
        key=f"try_{entry.name}",
        persist_state="session",
        max_chars=MAX_PROBE_TEXT,
        placeholder=next((example.source for example in examples_of(entry.summary)), ""),
    )
    text = " ".join((text or "").split())  # spaces that were typed twice are not what training lacks
    if not text:
        return
    try:
        translation = runtime.translate(entry.name, text, DecodeConfig())
        place = _place(entry.name, runtime.fingerprint(entry.name), text)
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    if doubts := doubts_of(translation, entry.summary):  # before the answer, which would be believed
        st.warning(plain(" ".join(doubts)), icon=":material/explore_off:")
    with st.container(horizontal=True, vertical_alignment="center"):
        answer = translation.text
        said = t("It answers {answer}.", answer=quoted(answer)) if answer else t("It answers with nothing.")
        st.markdown(plain(" ".join(filter(None, (said, place)))), width="content")
        at = {"model": entry.name, "text": text}
        label = t("See what it looks at")
        st.page_link("pages/translate.py", label=label, icon=":material/translate:", query_params=at)


@cached
def _place(name: str, version: str, text: str) -> str:
    del version  # part of the key only
    summary = runtime.models().get(name)
    return place_in_data(summary, text) if summary else ""


def _new_pairs() -> None:
    st.session_state["train_task"] = FILES
    choose_run(NEW)


def _draw_run(runs: Runs, name: str, step: NextStep) -> None:
    """Draw the button of a further run, with its command and Start."""
    changes = changes_for(step, runs.folder(name))
    if not changes:
        return
    labels = {
        "dropout": t("Train again with more dropout"),
        "rate": t("Train again with a lower rate"),
        "larger": t("Train a larger model"),
    }
    new = runs.free_name(name)
    command = like_command(name, new, changes, runs.checkpoints)
    with st.popover(labels[step]):
        settings = ", ".join(described(key, value) for key, value in changes)
        st.caption(plain(t("The same data and settings as “{name}”, but: {settings}.", name=name, settings=settings)))
        draw_start(command, "", f"next_{step}_{name}", new, lambda: runs.start(new, command))
