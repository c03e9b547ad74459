"""The Probe page's sample: which sentences, the work with its progress and its stop, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from explorer.probing.sample import (
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
from explorer.probing.sample_address import from_link, to_link
from explorer.text import plain
from explorer.web import runtime
from explorer.web.address import Parameter
from explorer.web.measurements import PATIENCE, Key, Report, store
from explorer.web.viewer_mode import closed
from model.checkpoint import LoadedModel

Result = TypeVar("Result")
_CHOICE, _STOPPED, _PROBLEM = "probe_choice", "probe_stopped", "probe_problem"
SAMPLE = Parameter("sample")
_NAMES: dict[Origin, str] = {"task": "The task's test set", "own": "My own sentences"}


def chosen(model: str) -> SampleChoice:
    """What this session measures a model on; sentences of one's own belong to the model they were given for."""
    kept: dict[str, SampleChoice] = st.session_state.setdefault(_CHOICE, {})
    return kept.get(model, SampleChoice())


def adopt(model: str) -> str:
    """Take over the sample that the link names, and let the link name the one that is measured.

    Returns a sentence about a sample that cannot be had, or nothing.
    """
    asked, problem = SAMPLE.asked(), ""
    if asked is not None:
        try:
            st.session_state.setdefault(_CHOICE, {})[model] = from_link(asked)
        except SampleError as unfit:
            problem = str(unfit)
    SAMPLE.write(to_link(chosen(model)))
    return problem


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
    """A result from the store, or made now, with a progress bar and a way to stop; None while it is stopped.

    The work is not this script's: a click starts the script anew, and it finds the work where it is.
    """
    found = store().known(key)
    if found is not None:
        return found
    stopped: set[Key] = st.session_state.setdefault(_STOPPED, set())
    name = "-".join(key)
    if key in stopped:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Go on", key=f"go-{name}", on_click=stopped.discard, args=(key,))
            st.caption(plain(f"{label}: stopped. For {PATIENCE / 60:.0f} minutes it can go on where it was."))
        return None
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text=plain(label))
        st.button("Stop", key=f"stop-{name}", on_click=_stop, args=(key,))
    shown = (0.0, label)

    def report(done: float, words: str) -> None:
        nonlocal shown
        if words and (done, words) != shown:
            shown = (done, words)
            bar.progress(min(max(done, 0.0), 1.0), text=plain(words))

    try:
        result = store().get(key, make, report)
    except Exception:  # whoever asked says what is wrong; there is nothing to wait for or to stop any more
        place.empty()
        raise
    place.empty()
    return result


def _stop(key: Key) -> None:
    st.session_state[_STOPPED].add(key)
    store().stop(key)


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
            if not closed("Uploads are"):
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
