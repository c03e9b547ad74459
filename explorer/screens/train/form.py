"""The form of the Train page: data, model, settings, what the run would take, the command, and Start."""

from __future__ import annotations

import dataclasses
import uuid

import streamlit as st

from explorer.figures.learning_rate_schedule import schedule_figure
from explorer.runs.command import Order, shown
from explorer.runs.dry_run import Plan, PlanDesk, PlanError
from explorer.runs.lifecycle import Runs
from explorer.runs.process import RunError
from explorer.runs.settings import problem, setting
from explorer.runs.status import clock
from explorer.screens.train.more_settings import choose_rest, choose_ways
from explorer.screens.train.setting_fields import size_fields, training_fields
from explorer.screens.train.training_data import Data, choose_data
from explorer.text import count, plain, why
from explorer.web.figures import draw_figure
from explorer.web.selected_run import choose_run
from explorer.web.viewer_mode import closed
from model.data import TASKS
from model.folder import CheckpointError
from model.presets import PRESETS, Preset

_ASKER, _SEEN = "_plan_asker", "_plan_seen"
_NAME, _SUGGESTED, _REFUSED = "train_name", "_train_suggested", "_train_refused"
_POLL_SECONDS = 0.7
_TRIAL = "trial"  # the name of a run that is only estimated: every session asks the same question


@st.cache_resource(show_spinner=False)
def plan_desk() -> PlanDesk:
    """The one desk of this server that makes plans."""
    return PlanDesk()


def draw_form(runs: Runs) -> None:
    """The whole form."""
    _who_is_first(runs)
    if closed("Training is"):
        return
    left, right = st.columns([6, 5], gap="large")
    with left:
        data = choose_data(runs.checkpoints)
    if data is None:
        return
    with right:
        preset = _preset(data)
        panel = st.container()
    scope = f"{data.task}_{preset.name}"
    sizes = st.expander("Every size by hand")
    with st.expander("Training settings"):
        schedule, fields = st.container(), st.container()
        with fields:
            changes = training_fields(preset, scope)
            order = Order(_TRIAL, data.task, preset.name, data=data.words)
            if st.toggle("More settings", key="train_more", persist_state="session"):
                order = dataclasses.replace(order, **choose_ways())
                changes += choose_rest(preset, data, scope, order.init)
    with sizes:
        if order.init:
            st.caption(plain(f"The sizes are those of '{order.init}', whose weights the run starts from."))
        else:
            changes = size_fields(preset, scope) + changes
    order = dataclasses.replace(order, changes=changes)
    unfit = problem(preset, changes)
    plan = None if unfit else _ask(runs, order)
    with panel:
        name = _name(runs, data)
        order = dataclasses.replace(order, name=name)
        st.fragment(_plan, run_every=None if unfit or plan is not None else _POLL_SECONDS)(runs, order, unfit)
    with schedule:
        if isinstance(plan, Plan):
            draw_figure(schedule_figure(plan.schedule, str(setting(preset, changes, "schedule"))))
    with st.expander("The command"):
        st.caption("Start runs exactly this. Typed on a terminal in the project's folder it does the same.")
        st.code(shown(order.command(runs.checkpoints)), language="bash", wrap_lines=True)


def _who_is_first(runs: Runs) -> None:
    """A line for a run that is at work here, and the way to it."""
    busy = [run for run in runs.statuses() if run.busy]
    if not busy:
        return
    others = f" ({len(busy) - 1} more waiting)" if len(busy) > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            plain(f"'{busy[0].name}' is {busy[0].state} on this machine{others}; a new run waits until it has ended."),
            width="content",
        )
        st.button("Watch it", key="train_watch", on_click=choose_run, args=(busy[0].name,))


def _preset(data: Data) -> Preset:
    start = data.default_preset
    names = [name for name in PRESETS if name == start or name not in TASKS]
    key = f"train_preset_{data.task}"
    chosen = st.segmented_control(
        "Model",
        names,
        default=None if key in st.session_state else start,
        required=True,
        key=key,
        persist_state="session",
        help="Sizes and settings to start from. Each can be changed below.",
    )
    preset = PRESETS[chosen or start]
    st.caption(plain(preset.title + "."))
    return preset


def _name(runs: Runs, data: Data) -> str:
    """The name of the new model; a free one is suggested until somebody types another."""
    suggested = runs.free_name(data.wanted_name)
    if st.session_state.get(_NAME) in (None, "", st.session_state.get(_SUGGESTED)):
        st.session_state[_NAME] = st.session_state[_SUGGESTED] = suggested
    text = st.text_input(
        "Name",
        key=_NAME,
        persist_state="session",
        max_chars=64,
        help="The model's name in every list, and the name of its folder.",
    )
    return (text or suggested).strip()


def _ask(runs: Runs, order: Order) -> Plan | PlanError | None:
    asker = st.session_state.setdefault(_ASKER, uuid.uuid4().hex)
    return plan_desk().ask(asker, _trial(runs, order))


def _trial(runs: Runs, order: Order) -> list[str]:
    """The question for a plan, which does not depend on the name."""
    return dataclasses.replace(order, name=_TRIAL).trial(runs.checkpoints)


def _plan(runs: Runs, order: Order, unfit: str) -> None:
    """What the run would take, and Start; looks again by itself until that is known."""
    answer = None if unfit else _ask(runs, order)
    plan = answer if isinstance(answer, Plan) else None
    parts = st.columns(3)
    parts[0].metric("Parameters", count(plan.parameters) if plan else "…")
    parts[1].metric("Memory", _bytes(plan.memory) if plan else "…")
    parts[2].metric("Takes about", clock(plan.seconds) if plan else "…")
    impossible = bool(unfit) or (isinstance(answer, PlanError) and answer.refused)
    if st.button("Start training", type="primary", disabled=impossible, width="stretch"):
        _start(runs, order)
    refused, why = st.session_state.get(_REFUSED, ("", ""))
    if why and refused == order.name:  # this part looks for news: what it said must not vanish the next moment
        st.error(plain(why))
    if impossible:
        st.error(plain(unfit or str(answer)))
    elif isinstance(answer, PlanError):
        st.warning(plain(str(answer)))
        if st.button("Estimate again"):
            plan_desk().forget(_trial(runs, order))
            st.rerun()  # the timer starts again
    elif plan is None:
        st.caption("Looking at the data, counting, and timing a few updates on this machine …")
    else:
        busy = any(run.busy for run in runs.statuses())
        hint = " Another run is at work, so this machine is faster than it seems now." if busy else ""
        st.caption(plain(_summary(plan) + hint))
        if st.session_state.get(_SEEN) != order.command(runs.checkpoints):
            st.session_state[_SEEN] = order.command(runs.checkpoints)
            st.rerun()  # the timer stops, and the schedule is drawn


def _start(runs: Runs, order: Order) -> None:
    try:
        runs.start(order.name, order.command(runs.checkpoints))
    except (CheckpointError, RunError, OSError) as refused:
        st.session_state[_REFUSED] = (order.name, why(refused))
        return
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_NAME, None)
    choose_run(order.name)
    st.rerun()


def _summary(plan: Plan) -> str:
    skipped = f" {plan.skipped:,} pairs are left out, empty or too long." if plan.skipped else ""
    return (
        f"On {plan.device_name} ({plan.precision}): {plan.steps:,} updates at about {plan.tokens_per_s:,.0f} tokens/s "
        f"go through the {plan.examples.get('train', 0):,} training pairs {plan.epochs:.3g} times. Vocabulary: "
        f"{plan.src_vocab_size:,} source and {plan.tgt_vocab_size:,} target tokens.{skipped}"
    )


def _bytes(number: int) -> str:
    return f"{number / 2**30:.1f} GB" if number >= 2**29 else f"{number / 2**20:.0f} MB"
