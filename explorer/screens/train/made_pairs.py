"""Data diversification on the Train page: choose models that write pairs, start them, watch and stop them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import streamlit as st

from explorer.locale.text import listed, plain, why
from explorer.runs.command import WHERE, PairsOrder, quoted_command
from explorer.runs.lifecycle import Runs
from explorer.runs.made_pairs import MadePairs
from explorer.runs.pair_writers import Writers, writers
from explorer.runs.process import RunError
from explorer.runs.viewer_mode import ViewerError
from explorer.screens.train.training_data import Data
from explorer.web import runtime
from explorer.web.faults import contained

_REFUSED = "_train_made_refused"
_SEEN = "_train_made_seen"  # in the session: the names of those that it has seen being made
_NONE = ""
_NEWS_SECONDS = 1.0
_HELP = (
    "Data diversification: one model translates the sources of the training pairs, one of the reverse direction the "
    "targets, and training reads the new pairs beside the old ones. Source: Nguyen, Joty, Wu and Aw 2020, “Data "
    "Diversification: A Simple Strategy For Neural Machine Translation”, §3.1. It can help where a sentence has many "
    "good translations; toy tasks with a single right answer gain nothing from it."
)
_TEMPERATURE = 0.7
_DRAWN = (
    f"Beam search writes the same pairs each time. Drawing each token from the model's probabilities (temperature "
    f"{_TEMPERATURE:g}) writes others with each seed, so that the same models can make several files; more of their "
    "sentences are wrong, so that it suits sources more than targets, and with few pairs beam search may serve better. "
    "Compare Edunov, Ott, Auli and Grangier 2018, “Understanding Back-Translation at Scale”, §3."
)
_COST = (
    "Each model translates every different sentence of its side once (beam search, 5 hypotheses, unless they draw). "
    "The time left is known after the first few: in all about half a minute on an idle core for a toy task, and five "
    "minutes for each model of Multi30k."
)


def choose_writers(data: Data, made: MadePairs, device: str) -> None:
    """Draw the two choices and the button, and whatever is being made or has failed."""
    st.markdown("**Pairs written by trained models**", help=_HELP)
    busy = [status.name for status in Runs(made.checkpoints).statuses() if status.busy]
    models = list(runtime.models().values())
    columns = st.columns(2)
    with columns[0]:
        forward = _one_of("From source to target", writers(models, data.data, "target", busy), data, "model")
    with columns[1]:
        back = _one_of("From target to source", writers(models, data.data, "source", busy), data, "reverse")
    order = PairsOrder(data.task, data.arguments, forward, back, device)
    if _draws(data):
        order = made.next_drawn(dataclasses.replace(order, sample=_TEMPERATURE))
    unfinished = made.unfinished()
    running = any(making.state == "running" for making in unfinished)
    there = next((making.name for making in made.finished(data.task, data.arguments) if making.order == order), "")
    st.button(
        "Make the pairs",
        key="train_make",
        disabled=running or bool(there) or not (forward or back),
        on_click=attempt,
        args=(made.start, order),
    )
    draw_unfinished(made)
    if there:
        st.caption(plain(f"These pairs are made: '{there}' is in the list."))
    elif not running:
        st.caption(_COST)
    if (forward or back) and not there and not running:
        with st.popover("Command for the pairs"):
            st.caption(f"The button runs exactly this command; you can also run it {WHERE}.")
            st.code(quoted_command(made.command(order)), language="bash", wrap_lines=True)


def _draws(data: Data) -> bool:
    """Whether the models are to draw at random."""
    key = f"train_{data.task}_writer_draws"
    st.session_state[key] = bool(st.session_state.get(key))  # at every run, as below
    return st.checkbox("Draw at random instead of searching", key=key, persist_state="session", help=_DRAWN)


def _one_of(label: str, found: Writers, data: Data, role: str) -> str:
    """The choice of one model; a sentence where there is none."""
    key = f"train_{data.task}_writer_{role}"
    options = [_NONE, *found.names]
    # Set at every run: an interrupted run creates fields that the browser never sees.
    chosen = st.session_state.get(key)
    st.session_state[key] = chosen if chosen in options else found.proposed
    chosen = st.selectbox(
        label,
        options,
        key=key,
        format_func=lambda name: name or "none",
        persist_state="session",
        disabled=not found.names,
        help="Trained models whose languages fit. They translate what this side has in the training pairs.",
    )
    if found.missing:
        st.caption(plain(found.missing))
    return chosen or _NONE


def draw_unfinished(made: MadePairs, *, apart: bool = False) -> None:
    """What is being made, with its progress, and what has failed, with the reason; nothing if there is neither.

    `apart`: the list of made pairs is not on the page, so that an end is told here, too.
    """
    _say_refused()
    unfinished = made.unfinished()
    names = [making.name for making in unfinished if making.state == "running"]
    seen = st.session_state.setdefault(_SEEN, set())
    if apart and (ended := [name for name in sorted(seen) if _is_made(made, name)]):
        st.caption(plain(f"{listed(ended)}: made. Training settings → More settings adds these pairs to the training."))
    seen.update(names)
    if not unfinished:
        return
    every = _NEWS_SECONDS if names else None
    st.fragment(contained("made_pairs")(_news), run_every=every)(made, names)


def _is_made(made: MadePairs, name: str) -> bool:
    making = made.making(name)
    return making is not None and making.state == "finished"


def _news(made: MadePairs, drawn: list[str]) -> None:
    """What changes constantly; an end redraws the page, where the list then has the file."""
    unfinished = made.unfinished()
    if [making.name for making in unfinished if making.state == "running"] != drawn:
        st.rerun()
        return
    _say_refused()
    for making in unfinished:
        with st.container(horizontal=True, vertical_alignment="center"):
            if making.state == "running":
                st.progress(making.share, text=plain(f"{making.name}: {making.progress()}"))
                label, hint = "Stop", "Ends the process at once; nothing of these pairs is kept."
            else:
                st.error(plain(f"{making.name} was not made: {making.error}"))
                label, hint = "Close", "Removes this message."
            key = f"train_making_{label}_{making.name}"
            st.button(label, key=key, help=hint, on_click=attempt, args=(made.remove, making.name))


def attempt(action: Callable[..., object], *arguments: object) -> None:
    """Carry out an action of a button; what refuses it is said when the page is drawn."""
    try:
        action(*arguments)
    except (RunError, ViewerError, OSError) as refused:
        st.session_state[_REFUSED] = why(refused)


def _say_refused() -> None:
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))
