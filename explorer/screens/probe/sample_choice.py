"""The subject of the Probe page, a model and the sentences that it is measured on: its choice and its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from explorer.decoding.model_description import ModelDescription
from explorer.decoding.translator import InputError, Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.probing.annotated import annotated_lines, in_order
from explorer.probing.measured import Measured, measure, measured_before, read_again
from explorer.probing.reporting import Report, unheard
from explorer.probing.sample import (
    MAX_SENTENCES,
    SENTENCES,
    Origin,
    SampleChoice,
    SampleError,
    default_choice,
    from_link,
    lines_of,
    to_link,
)
from explorer.runs.viewer_mode import viewing
from explorer.web import long_work, runtime
from explorer.web.address import SAMPLE
from explorer.web.measurements import Key, store
from model.analysis.recorded_batches import Observed
from model.checkpoint import LoadedModel
from model.config import DecodeConfig
from model.data.scenes import scenes

Result = TypeVar("Result")

_PART = "part of probe"
_CHOICE, _PROBLEM = "probe_choice", "probe_problem"


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, the current sentence, and the sample; results are stored by model and sample.

    `part`: the number of its sentences that have been measured while the rest is still to come; 0: all.
    """

    model: ModelDescription
    text: str
    choice: SampleChoice
    part: int = 0

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def key(self, what: str) -> Key:
        """The key of one measurement of the model, with its current files, on the sample."""
        part = (str(self.part),) if self.part else ()
        return (what, self.name, runtime.fingerprint(self.name), self.choice.key, *part)

    def find(self, what: str) -> Any | None:
        """A result that has already been measured, or None."""
        return store().find(self.key(what))

    def asked(self, what: str, label: str, *, by_link: bool = False) -> bool:
        """Whether a result has been measured or requested; if not, draw the button that requests it."""
        return self.find(what) is not None or long_work.asked(self.key(what), label, by_link=by_link)

    def measure(self, what: str, label: str, work: Callable[[LoadedModel, Report], Result]) -> Result | None:
        """The result of long work, stored or computed now behind a progress bar; None while it is stopped."""
        return long_work.with_progress(self.key(what), partial(runtime.compute_in_parts, self.name, work), label)

    def compute(self, what: str, work: Callable[[LoadedModel], Result]) -> Result:
        """The result of brief work, stored or computed now."""

        def make() -> Result:
            return runtime.compute_in_parts(self.name, lambda loaded, _: work(loaded), unheard)

        return store().quick(self.key(what), make)

    def so_far(self) -> Measured | None:
        """What is shown while the rest of the sample is measured; None if nothing is, or if all has been measured."""
        return None if self.find("probe") is not None else self.find(_PART)

    def measured(self, shown: int = 0) -> Measured | None:
        """The model measured on the sample; None after a message, or while it is stopped.

        The script starts again as soon as more than the `shown` sentences have been measured.
        """
        key = self.key(_PART)

        def look() -> None:
            if (part := store().find(key)) is not None and len(part.sample) > shown:
                st.rerun()

        work = partial(measure, self.choice, so_far=partial(store().keep, key))
        make = partial(runtime.compute_in_parts, self.name, work)
        try:
            return long_work.with_progress(self.key("probe"), make, t("Measuring the heads"), look=look)
        except SampleError as nothing:
            st.info(plain(str(nothing)))
            return None

    def translation(self) -> Translation | None:
        """The model's own translation of the sentence; None after a message."""
        try:
            return runtime.translate(self.name, self.text, DecodeConfig())
        except InputError as nothing:
            st.info(plain(str(nothing)))
            return None

    def observations(self, measured: Measured) -> tuple[Observed, ...] | None:
        """All sentences of the sample as the model reads them."""
        return self.measure("sentences", t("Reading the sentences"), partial(read_again, measured.sample))

    def some_observations(self, measured: Measured, indices: Sequence[int]) -> dict[int, Observed]:
        """A few sentences of the sample as the model reads them."""
        wanted = sorted(set(indices))
        part = measured.sample.part(wanted)
        sentences = self.compute(f"sentences {wanted}", lambda loaded: read_again(part, loaded, unheard))
        return dict(zip(wanted, sentences, strict=True))


def subject(model: ModelDescription, text: str) -> Subject:
    """The model with the sample that this session measures it on; own sentences belong to the model they are for."""
    return Subject(model, text, _chosen(model.name))


def _chosen(model: str) -> SampleChoice:
    choices: dict[str, SampleChoice] = st.session_state.setdefault(_CHOICE, {})
    return choices.get(model) or _default(model)


def _default(model: str) -> SampleChoice:
    return default_choice(runtime.describe(model).data_config)


def adopt(model: str) -> str:
    """Apply the sample named in the address, and write the sample in use to the address.

    Returns a message about a sample that cannot be used, or an empty string.
    """
    asked, problem = SAMPLE.asked().get("sample"), ""
    if asked is not None:
        try:
            st.session_state.setdefault(_CHOICE, {})[model] = from_link(asked)
        except SampleError as unusable:
            problem = str(unusable)
    SAMPLE.write({"sample": to_link(_chosen(model), _default(model))})
    return problem


def read_ahead() -> None:
    """Read into the store the results that come with the model on screen, if there are any."""
    name = runtime.last_loaded()
    if name is None:
        return
    first = Subject(runtime.describe(name), "", _default(name))
    if first.model.is_transformer and first.find("probe") is None:
        with runtime.model(name) as translator:
            measured = measured_before(first.choice, translator)
        if measured is not None:
            store().keep(first.key("probe"), measured)


def draw_choice(model: str) -> None:
    """Draw the choice of sentences, in a popover."""
    choice = _chosen(model)
    origins: dict[Origin, str] = {"task": t("The task's test set"), "own": t("My own sentences")}
    if _default(model).origin == "scenes":
        origins = {"scenes": t("Aligned scenes"), **origins}
    with st.popover(t("Choose sentences"), icon=":material/list:"):
        origin = st.segmented_control(
            t("Measure on"),
            list(origins),
            format_func=origins.__getitem__,
            default=choice.origin,
            required=True,
            key=f"probe_origin_{model}",
        )
        if origin == "own":
            st.text_area(
                t("One sentence per line; its translation after a tab, if you know it"),
                value="\n".join(choice.lines),
                key=f"probe_lines_{model}",
                height=160,
                help=t(
                    "After another tab, the alignment of their words, if you know it: 0-0 1-2 pairs the first words "
                    "with each other, and the second source word with the third target word."
                ),
            )
            if not viewing():
                st.file_uploader(
                    t("Or a set that people aligned: source, target and links, in the format of Pharaoh or NAACL"),
                    accept_multiple_files=True,
                    key=f"probe_files_{model}",
                )
        if origin == "scenes":
            st.caption(
                t(
                    "{n} description of everyday scenes that come with Headlight, in English and German, with "
                    "their word alignment. Sentences and alignments were written with a language model; none of the "
                    "sentences occurs in Multi30k.",
                    "{n:,} descriptions of everyday scenes that come with Headlight, in English and German, with "
                    "their word alignment. Sentences and alignments were written with a language model; none of the "
                    "sentences occurs in Multi30k.",
                    n=len(scenes()),
                )
            )
        st.number_input(
            t("Maximum number of sentences"),
            min_value=1,
            max_value=MAX_SENTENCES,
            value=choice.size,
            key=f"probe_size_{model}",
        )
        st.checkbox(
            t("Read them with the model's own translations"),
            value=choice.translated,
            key=f"probe_translated_{model}",
            help=t("Otherwise with the reference translations, where there are any (teacher forcing)."),
        )
        st.button(t("Measure"), type="primary", key=f"probe_measure_{model}", on_click=_choose, args=(model,))
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
            files = {file.name: file.getvalue() for file in state.get(f"probe_files_{model}") or ()}
            data = runtime.describe(model).data_config
            lines = (
                lines_of("\n".join(annotated_lines(*in_order(files, data.src_lang, data.tgt_lang))))
                if files
                else lines_of(state[f"probe_lines_{model}"])
            )
    except SampleError as problem:
        state[_PROBLEM] = str(problem)
        return
    size = int(state.get(f"probe_size_{model}") or SENTENCES)
    state[_CHOICE][model] = SampleChoice(origin, lines, size, bool(state.get(f"probe_translated_{model}")))
    long_work.forget_stops()
