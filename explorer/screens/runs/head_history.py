"""The tab Watch heads form: attention in a sentence at every snapshot of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from explorer.browser.film import Film, Frame, film_view
from explorer.decoding.cache import cached
from explorer.decoding.examples import examples_of
from explorer.decoding.names import name_in_kind
from explorer.decoding.translator import InputError
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.origin import losses_are_alike
from explorer.web import runtime
from explorer.web.choose_head import choose_kind
from explorer.web.faults import contained
from explorer.web.figures import draw_table
from explorer.web.runs import draw_curves, metrics_of
from model.checkpoint import snapshot_steps
from model.config import AttentionKind, DecodeConfig
from model.folder import CheckpointError
from model.headline import number

if TYPE_CHECKING:
    from explorer.runs.head_history import Moment

MAX_TEXT = 200


def draw_heads(runs: Runs, entry: Entry) -> None:
    """Draw the whole tab for one run or model."""
    if entry.problem:
        st.warning(plain(entry.problem))
        return
    steps = snapshot_steps(runs.folder(entry.name))
    left, right = st.columns([5, 6])
    key = f"film_text_{entry.name}"
    if key not in st.session_state:
        first = next((example.source for example in examples_of(entry.summary)), "")
        st.session_state[key] = runs.watched(entry.name) or first
    text = left.text_input(t("Sentence"), key=key, persist_state="session", max_chars=MAX_TEXT) or ""
    with right:
        kind = choose_kind("film_kind")
    try:
        moments = _moments(runs, entry.name, text, steps)
    except (InputError, CheckpointError) as refused:
        st.info(plain(str(refused)))
        return
    st.fragment(contained("film")(_film))(
        runs, entry.name, kind, moments, int(number(entry.summary["results"], "step") or steps[-1])
    )


def _film(runs: Runs, name: str, kind: AttentionKind, moments: list[Moment], kept: int) -> None:
    """Draw the film, and text and loss for its current position; moving in it reruns only this part.

    It opens at the step whose weights were `kept`.
    """
    frames = tuple(Frame.of(moment.trace, kind, moment.step) for moment in moments)
    tokens = moments[-1].trace
    seq = f"{name} {kind} {' '.join(tokens.src_tokens)} {' '.join(tokens.predicted_tokens)} {len(frames)}"
    at = next((i for i, moment in enumerate(moments) if moment.step == kept), len(frames) - 1)
    film = Film(seq, kind, frames, frames[-1].layers, frame=at)
    place = film_view(film, key=f"film_{name}")
    moment, frame = moments[place.frame], frames[place.frame]
    caption = t(
        "Step {step:,}, {head}. {looks} The model's own answer at this step: {answer}.",
        step=moment.step,
        head=name_in_kind(place.layer, place.head),
        looks=frame.caption(kind, place.layer, place.head),
        answer=quoted(moment.own_text) if moment.own_text else t("(nothing)"),
    )
    st.caption(plain(caption))
    st.caption(
        t(
            "At every step, the rows are the answer of the model that was kept, that of step {step:,}, so that steps "
            "can be compared. A head that looks at the right place need not matter for the answer: to find out, "
            "switch it off.",
            step=kept,
        )
    )
    with st.expander(t("This head at this step as a table")):
        draw_table(frame.table(place.layer, place.head), t("Weights of this head at this step"), file="head")
    draw_curves(metrics_of(runs, name), losses_are_alike(runs.folder(name)), mark=moment.step, key="film")


def _moments(runs: Runs, name: str, text: str, steps: list[int]) -> list[Moment]:
    """The attention in a sentence at every snapshot.

    Raises:
        InputError: there is nothing to translate. CheckpointError: the model or a snapshot cannot be opened.
    """
    from explorer.runs.head_history import stamp

    final = runtime.translate(name, text, DecodeConfig())
    folder, moments, bar = runs.folder(name), [], st.empty()
    for at, step in enumerate(steps, start=1):
        moments.append(_moment(str(folder), step, stamp(folder, step), final.source.text, final.path))
        if at < len(steps):
            progress = t("Computing snapshot {number} of {all} …", number=at, all=len(steps))
            bar.progress(at / len(steps), text=progress)
    bar.empty()
    return moments


@cached
def _moment(folder: str, step: int, stamp: str, text: str, path: tuple[int, ...]) -> Moment:
    from explorer.runs.head_history import moment

    del stamp  # part of the key only
    with runtime.snapshot_turn():
        return moment(Path(folder), step, text, path)
