"""The Probe page's sample: which sentences, the work with its progress and its stop, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from explorer import runtime
from explorer.facts import plain
from explorer.probe_sample import (
    MOST,
    SIZE,
    Measured,
    Origin,
    SampleChoice,
    SampleError,
    lines_of,
    lines_of_file,
    measure,
)
from explorer.probe_store import Key, Report, store
from model.checkpoint import LoadedModel

Result = TypeVar("Result")
_CHOICE, _STOPPED, _PROBLEM = "probe_choice", "probe_stopped", "probe_problem"
_PAUSE = 0.1  # seconds between two messages about progress
_NAMES: dict[Origin, str] = {"task": "The task's test set", "own": "My own sentences"}


def chosen(model: str) -> SampleChoice:
    """What this session measures a model on; sentences of one's own belong to the model they were given for."""
    kept: dict[str, SampleChoice] = st.session_state.setdefault(_CHOICE, {})
    return kept.get(model, SampleChoice())


def measured(loaded: LoadedModel) -> Measured | None:
    """The model measured on the chosen sample: from memory, or now, with a bar; None where that cannot be (yet)."""
    choice = chosen(loaded.name)
    try:
        return at_work(
            ("probe", loaded.name, runtime.fingerprint(loaded.name), choice.key),
            lambda report: measure(choice, loaded, report),
            "Measuring the heads",
        )
    except SampleError as nothing:
        st.info(plain(str(nothing)))
        return None


def at_work(key: Key, make: Callable[[Report], Result], label: str) -> Result | None:
    """A result from the store, or made now, with a progress bar and a way to stop; None while it is stopped."""
    found = store().known(key)
    if found is not None:
        return found
    stopped: set[Key] = st.session_state.setdefault(_STOPPED, set())
    name = "-".join(key)
    if key in stopped:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Go on", key=f"go-{name}", on_click=stopped.discard, args=(key,))
            st.caption(plain(f"{label}: stopped. Nothing of it was kept."))
        return None
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text=plain(label))
        # Any click ends the work at its next report, since Streamlit then starts the script anew; this one stays so.
        st.button("Stop", key=f"stop-{name}", on_click=stopped.add, args=(key,))
    last = 0.0

    def report(done: float, words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PAUSE:
            last = now
            bar.progress(min(max(done, 0.0), 1.0), text=plain(words))

    result = store().get(key, make, report)
    place.empty()
    return result


def draw_choice(model: str) -> None:
    """The choice of sentences, folded away behind a button."""
    choice = chosen(model)
    with st.popover("Choose sentences", icon=":material/list:"):
        origin = st.segmented_control(
            "Measure on",
            list(_NAMES),
            format_func=_NAMES.__getitem__,
            default=choice.origin,
            required=True,
            key=f"probe_origin_{model}",
        )
        if origin == "own":
            st.text_area(
                "One sentence a line; its translation after a tab, if you know it",
                value="\n".join(choice.lines),
                key=f"probe_lines_{model}",
                height=160,
            )
            st.file_uploader("or a text file (UTF-8)", type=["txt", "tsv"], key=f"probe_file_{model}")
        st.number_input(
            "At most this many sentences", min_value=1, max_value=MOST, value=choice.size, key=f"probe_size_{model}"
        )
        st.checkbox(
            "Read them with the model's own translations",
            value=choice.translated,
            key=f"probe_translated_{model}",
            help="Otherwise with the written translations, where there are any (teacher forcing).",
        )
        st.button("Measure", type="primary", key=f"probe_measure_{model}", on_click=_choose, args=(model,))
        problem = st.session_state.pop(_PROBLEM, None)
        if problem:
            st.warning(plain(problem))


def _choose(model: str) -> None:
    """Take over what the fields say."""
    state = st.session_state
    origin: Origin = state.get(f"probe_origin_{model}") or "task"
    lines: tuple[str, ...] = ()
    try:
        if origin == "own":
            file = state.get(f"probe_file_{model}")
            lines = lines_of_file(file.getvalue()) if file is not None else lines_of(state[f"probe_lines_{model}"])
    except SampleError as problem:
        state[_PROBLEM] = str(problem)
        return
    size = int(state.get(f"probe_size_{model}") or SIZE)
    state[_CHOICE][model] = SampleChoice(origin, lines, size, bool(state.get(f"probe_translated_{model}")))
    state[_STOPPED] = set()
