"""Two small forms that follow a run: train again like this, and train it longer; on the Train page and on Runs."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.locale.text import plain, plural, why
from explorer.runs.command import like_command, longer_command, quoted_command
from explorer.runs.lifecycle import Runs
from explorer.runs.process import RunError
from explorer.runs.repeating import Repeatable, repeatable
from explorer.runs.settings import refusal
from explorer.runs.viewer_mode import viewing
from explorer.web.selected_run import choose_run
from model.folder import CheckpointError

_REFUSED, _WATCH = "_again_refused", "_again_watch"


def draw_again(runs: Runs, name: str, key: str) -> None:
    """The two buttons, each with its form, for a run or model that is not being trained; nothing for any other."""
    if st.session_state.pop(_WATCH, False):  # first: a run that is trained longer is busy by now
        st.switch_page("pages/train.py")
    status = runs.peek(name)
    if viewing() or (status is not None and status.busy) or not runs.folder(name).is_dir():
        return
    run = repeatable(runs.folder(name), status)
    if run is None:
        return
    with st.popover("Train again like this"):
        if run.missing:
            st.caption(plain(run.missing))
        else:
            _like(runs, name, run, key)
    if run.can_go_on:
        with st.popover("Train longer"):
            _longer(runs, name, run, key)
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused))


def _like(runs: Runs, name: str, run: Repeatable, key: str) -> None:
    st.caption(plain(f"The same data and settings as '{name}'. The same seed gives the same weights. {run.computed}"))
    # Without bounds, here and below: the browser marks a number beyond them red, but Start would use the one before.
    seed = int(st.number_input("Seed", value=run.next_seed, step=1, key=f"{key}_seed_{name}"))
    new = st.text_input("Name of the new model", value=runs.free_name(name), max_chars=64, key=f"{key}_name_{name}")
    warm = st.toggle(
        "Start from its weights",
        key=f"{key}_warm_{name}",
        help="Train on what it has learned, instead of from random weights.",
    )
    if unfit := refusal("seed", seed):
        st.error(plain(unfit))
    changes = (("seed", str(seed)),)
    new = new.strip() or runs.free_name(name)
    command = like_command(name, new, changes, runs.checkpoints, from_weights=warm)
    st.code(quoted_command(command), language="bash", wrap_lines=True)
    start: Callable[[], None] = lambda: runs.again(name, new, changes, from_weights=warm)  # noqa: E731
    st.button(
        "Start", key=f"{key}_like_{name}", type="primary", disabled=bool(unfit), on_click=_begin, args=(start, new)
    )


def _longer(runs: Runs, name: str, run: Repeatable, key: str) -> None:
    st.caption(plain(f"'{name}' goes on from update {run.steps:,}. {run.longer_sentence}"))
    twice = max(2 * run.steps, run.steps + 1)
    steps = int(st.number_input("Updates in all", value=twice, step=1, key=f"{key}_steps_{name}"))
    unfit = refusal("max_steps", steps)
    if not unfit and steps <= run.steps:
        unfit = f"It has made {plural(run.steps, 'update')} already; choose more than that."
    if unfit:
        st.error(plain(unfit))
    command = longer_command(name, steps, runs.checkpoints)
    st.code(quoted_command(command), language="bash", wrap_lines=True)
    start: Callable[[], None] = lambda: runs.longer(name, steps)  # noqa: E731
    st.button(
        "Start", key=f"{key}_longer_{name}", type="primary", disabled=bool(unfit), on_click=_begin, args=(start, name)
    )


def _begin(start: Callable[[], None], watched: str) -> None:
    """Start the process, and watch it on the Train page."""
    try:
        start()
    except (RunError, CheckpointError, OSError) as refused:
        st.session_state[_REFUSED] = why(refused)
        return
    choose_run(watched)
    st.session_state[_WATCH] = True
