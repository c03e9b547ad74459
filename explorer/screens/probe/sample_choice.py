"""The sentences that the Probe page measures on: the choice, its URL parameter, and the measurement itself."""

from __future__ import annotations

import dataclasses
from functools import partial

import streamlit as st

from explorer.decoding.model_description import ModelDescription
from explorer.locale.text import plain, plural
from explorer.probing.sample import (
    MAX_SENTENCES,
    SENTENCES,
    Measured,
    Origin,
    SampleChoice,
    SampleError,
    default_choice,
    lines_of,
    lines_of_file,
    measure,
    measured_before,
)
from explorer.probing.sample_address import from_link, to_link
from explorer.screens.probe.progress import measurement_key
from explorer.web import runtime
from explorer.web.address import Parameter
from explorer.web.long_work import forget_stops, known, with_progress
from explorer.web.measurements import store
from explorer.web.viewer_mode import closed
from model.data.scenes import scenes

_CHOICE, _PROBLEM = "probe_choice", "probe_problem"
SAMPLE = Parameter("sample")
_ORIGINS: dict[Origin, str] = {
    "scenes": "Aligned scenes",
    "task": "The task's test set",
    "own": "My own sentences",
}


def chosen(model: str) -> SampleChoice:
    """The sample on which this session measures a model; own sentences belong to the model they were entered for."""
    choices: dict[str, SampleChoice] = st.session_state.setdefault(_CHOICE, {})
    return choices.get(model) or _default(model)


def _default(model: str) -> SampleChoice:
    return default_choice(runtime.describe(model).data_config)


def adopt(model: str) -> str:
    """Apply the sample named in the address, and write the sample in use to the address.

    Returns a message about a sample that cannot be used, or an empty string.
    """
    asked, problem = SAMPLE.asked(), ""
    if asked is not None:
        try:
            st.session_state.setdefault(_CHOICE, {})[model] = from_link(asked)
        except SampleError as unusable:
            problem = str(unusable)
    SAMPLE.write(to_link(chosen(model), _default(model)))
    return problem


def measured(described: ModelDescription) -> Measured | None:
    """The model measured on the chosen sample, from the store or computed now; None if impossible or stopped."""
    choice = chosen(described.name)
    try:
        return with_progress(
            measurement_key(described, choice, "probe"),
            lambda report: runtime.compute_in_parts(described.name, partial(measure, choice), report),
            "Measuring the heads",
        )
    except SampleError as nothing:
        st.info(plain(str(nothing)))
        return None


def read_ahead() -> Measured | None:
    """Read the results that came with the model on screen into the store; None if there is nothing to read."""
    name = runtime.last_loaded()
    if name is None:
        return None
    described, choice = runtime.describe(name), _default(name)
    key = measurement_key(described, choice, "probe")
    if not described.is_transformer or known(key) is not None:
        return None
    with runtime.model(name) as translator:
        found = measured_before(choice, translator.loaded)
    if found is not None:
        store().keep(key, found)
    return found


def draw_choice(model: str) -> None:
    """Draw the choice of sentences, in a popover."""
    choice = chosen(model)
    with st.popover("Choose sentences", icon=":material/list:"):
        origin = st.segmented_control(
            "Measure on",
            [origin for origin in _ORIGINS if origin != "scenes" or _default(model).origin == "scenes"],
            format_func=_ORIGINS.__getitem__,
            default=choice.origin,
            required=True,
            key=f"probe_origin_{model}",
        )
        if origin == "own":
            st.text_area(
                "One sentence per line; its translation after a tab, if you know it",
                value="\n".join(choice.lines),
                key=f"probe_lines_{model}",
                height=160,
                help="After another tab, the alignment of their words, if you know it: 0-0 1-2 pairs the first words "
                "with each other, and the second source word with the third target word.",
            )
            if not closed("Uploads are"):
                st.file_uploader("or a text file (UTF-8)", type=["txt", "tsv"], key=f"probe_file_{model}")
        if origin == "scenes":
            st.caption(
                f"{plural(len(scenes()), 'description')} of everyday scenes that come with Headlight, in English and "
                "German, with the right alignment of their words. None of them occurs in Multi30k."
            )
        st.number_input(
            "Maximum number of sentences",
            min_value=1,
            max_value=MAX_SENTENCES,
            value=choice.size,
            key=f"probe_size_{model}",
        )
        st.checkbox(
            "Read them with the model's own translations",
            value=choice.translated,
            key=f"probe_translated_{model}",
            help="Otherwise with the reference translations, where there are any (teacher forcing).",
        )
        if origin != "scenes":
            st.checkbox(
                "Align their words statistically where no right alignment is known",
                value=choice.aligned,
                key=f"probe_aligned_{model}",
                help="An aligner learns from the model's own training pairs which words belong together. It makes "
                "mistakes; its error rate on sentences with a right alignment is shown.",
            )
        st.button("Measure", type="primary", key=f"probe_measure_{model}", on_click=_choose, args=(model,))
        problem = st.session_state.pop(_PROBLEM, None)
        if problem:
            st.warning(plain(problem))


def _choose(model: str) -> None:
    """Apply the values of the fields."""
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
    size = int(state.get(f"probe_size_{model}") or SENTENCES)
    translated, aligned = (bool(state.get(f"probe_{name}_{model}")) for name in ("translated", "aligned"))
    state[_CHOICE][model] = SampleChoice(origin, lines, size, translated, aligned)
    forget_stops()


def align_words(model: str) -> None:
    """Measure the same sample again, with its words aligned statistically."""
    st.session_state[_CHOICE][model] = dataclasses.replace(chosen(model), aligned=True)
    forget_stops()
