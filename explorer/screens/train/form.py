"""The form of the Train page: data, model, settings, the estimate, the command, and Start."""

from __future__ import annotations

import dataclasses
import uuid

import streamlit as st

from explorer.charts.learning_rate_schedule import schedule_figure
from explorer.locale.text import count, plain, why
from explorer.runs.command import WHERE, TrainingOrder, quoted_command
from explorer.runs.dry_run import Plan, PlanError, PlanService
from explorer.runs.lifecycle import Runs
from explorer.runs.made_pairs import MadePairs
from explorer.runs.process import RunError
from explorer.runs.progress import busy_sentence
from explorer.runs.settings import problem, setting
from explorer.runs.status import clock
from explorer.screens.train.added_pairs import choose_added
from explorer.screens.train.made_pairs import draw_unfinished
from explorer.screens.train.more_settings import choose_computation, choose_further
from explorer.screens.train.setting_fields import size_fields, time_field, training_fields
from explorer.screens.train.token_panel import choose_kind, draw_tokens
from explorer.screens.train.training_data import Data, choose_data
from explorer.web.faults import contained
from explorer.web.figures import draw_figure
from explorer.web.selected_run import NEW, choose_run
from explorer.web.training_form import filled_from, forget_filling
from explorer.web.viewer_mode import closed
from model.data import TASKS
from model.folder import CheckpointError
from model.presets import PRESETS, Preset

_ASKER, _SEEN = "_plan_asker", "_plan_seen"
_NAME, _SUGGESTED, _REFUSED = "train_name", "_train_suggested", "_train_refused"
_POLL_SECONDS = 0.7
_TRIAL = "trial"  # the name of a run that is only estimated, so that all sessions share its plan


@st.cache_resource(show_spinner=False)
def plan_service() -> PlanService:
    """The one service of this server that makes plans."""
    return PlanService()


def draw_form(runs: Runs) -> None:
    """The whole form."""
    _draw_busy(runs)
    if closed("Training is"):
        return
    made = MadePairs(runs.checkpoints)
    making = st.container()  # drawn here where the panel that starts it is not on the page
    origin = st.container()
    left, right = st.columns([6, 5], gap="large")
    with left:
        data = choose_data(runs.checkpoints)
    if data is None:
        with making:
            draw_unfinished(made, apart=True)
        return
    if source := filled_from(data.task):
        origin.info(plain(f"This form was filled from {source}. Change what you like, then start."))
    with right:
        data = _with_tokens(data, left)
        preset = data.adapted(_preset(data))
        scope = f"{data.task}_{preset.name}"
        time, naming = st.columns([2, 3])
        with time:
            changes = time_field(preset, scope)
        panel = st.container()
    sizes = st.expander("Model sizes")
    with st.expander("Training settings"):
        schedule, fields = st.container(), st.container()
        with fields:
            changes += training_fields(preset, scope)
            order = TrainingOrder(_TRIAL, data.task, preset.name, data=data.arguments)
            if st.toggle("More settings", key="train_more", persist_state="session"):
                order = dataclasses.replace(order, **choose_computation())
                order = dataclasses.replace(order, added=choose_added(data, made, order.device))
                changes += choose_further(preset, data, scope, order.init)
            else:
                with making:
                    draw_unfinished(made, apart=True)
    with sizes:
        if order.init:
            st.caption(plain(f"The sizes are those of '{order.init}', the model that the run starts from."))
        else:
            changes = size_fields(preset, scope) + changes
    if not order.init:
        changes = data.tokens + changes
    order = dataclasses.replace(order, changes=changes)
    unfit = problem(preset, changes)
    plan = None if unfit else _ask(runs, order)
    with naming:
        name = _name(runs, data)
    with panel:
        order = dataclasses.replace(order, name=name)
        every = None if unfit or plan is not None else _POLL_SECONDS
        st.fragment(contained("run_plan")(_plan), run_every=every)(runs, order, unfit)
    with schedule:
        if isinstance(plan, Plan):
            draw_figure(schedule_figure(plan.schedule, str(setting(preset, changes, "schedule"))))
    with st.expander("The command"):
        st.caption(f"Start runs exactly this command; you can also run it {WHERE}.")
        st.code(quoted_command(order.command(runs.checkpoints)), language="bash", wrap_lines=True)


def _draw_busy(runs: Runs) -> None:
    """A line about the run that is being trained here, with a button to watch it."""
    statuses = runs.statuses()
    sentence = busy_sentence(statuses)
    if not sentence:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(sentence), width="content")
        first = next(status.name for status in statuses if status.busy)
        st.button("Watch it", key="train_watch", on_click=choose_run, args=(first,))


def _with_tokens(data: Data, left: st.delta_generator.DeltaGenerator) -> Data:
    """Own data with the chosen tokens, shown on samples beside the data; other tasks have theirs."""
    if data.proposal is None:
        return data
    kind = choose_kind(data.proposal, data.task)
    if kind is None:
        return data
    with left:
        draw_tokens(kind, data.proposal)
    return dataclasses.replace(data, tokens=(("tokenizer", kind.kind),))


def _preset(data: Data) -> Preset:
    start = data.default_preset
    names = [name for name in PRESETS if name == start or name not in TASKS]
    key = f"train_preset_{data.task}"
    # Set at every run: an interrupted run creates fields that the browser never sees.
    st.session_state[key] = st.session_state.get(key) or start
    chosen = st.segmented_control(
        "Model",
        names,
        required=True,
        key=key,
        persist_state="session",
        help="Sizes and settings to start from. You can change each of them below.",
    )
    preset = PRESETS[chosen or start]
    st.caption(plain(f"{preset.title}."))
    return preset


def _name(runs: Runs, data: Data) -> str:
    """The field for the new model's name; suggests a free one until the person types another."""
    suggested = runs.free_name(data.wanted_name)
    if st.session_state.get(_NAME) in (None, "", st.session_state.get(_SUGGESTED)):
        st.session_state[_NAME] = st.session_state[_SUGGESTED] = suggested
    text = st.text_input(
        "Name",
        key=_NAME,
        persist_state="session",
        max_chars=64,
        help="The name of the model in all lists, and of its folder.",
    )
    return (text or suggested).strip()


def _ask(runs: Runs, order: TrainingOrder) -> Plan | PlanError | None:
    asker = st.session_state.setdefault(_ASKER, uuid.uuid4().hex)
    return plan_service().ask(asker, _trial(runs, order))


def _trial(runs: Runs, order: TrainingOrder) -> list[str]:
    """The command that estimates the run, whatever its name."""
    return dataclasses.replace(order, name=_TRIAL).trial(runs.checkpoints)


def _plan(runs: Runs, order: TrainingOrder, unfit: str) -> None:
    """The estimate and the Start button; redrawn on a timer until the estimate is known."""
    answer = None if unfit else _ask(runs, order)
    plan = answer if isinstance(answer, Plan) else None
    parts = st.columns(3)
    parts[0].metric("Parameters", count(plan.parameters) if plan else "…")
    parts[1].metric("Memory", plan.memory_text if plan else "…")
    parts[2].metric("Takes about", clock(plan.seconds) if plan else "…")
    impossible = bool(unfit) or (isinstance(answer, PlanError) and answer.refused)
    if st.button("Start training", type="primary", disabled=impossible, width="stretch"):
        _start(runs, order)
    refused, reason = st.session_state.get(_REFUSED, ("", ""))
    if reason and refused == order.name:  # kept, since this part is redrawn on a timer
        st.error(plain(reason))
    if impossible:
        st.error(plain(unfit or str(answer)))
    elif isinstance(answer, PlanError):
        st.warning(plain(str(answer)))
        if st.button("Estimate again"):
            plan_service().forget(_trial(runs, order))
            st.rerun()  # the timer starts again
    elif plan is None:
        st.caption("Reading the data, counting parameters, and timing a few updates on this machine …")
    else:
        busy = any(run.busy for run in runs.statuses())
        hint = " Another run is being trained: once it has ended, this machine is faster." if busy else ""
        st.caption(plain(plan.summary() + hint))
        if st.session_state.get(_SEEN) != order.command(runs.checkpoints):
            st.session_state[_SEEN] = order.command(runs.checkpoints)
            st.rerun()  # the timer stops, and the schedule is drawn


def _start(runs: Runs, order: TrainingOrder) -> None:
    choose_run(order.name)  # first: another script run may take over at any access to the session
    try:
        runs.start(order.name, order.command(runs.checkpoints))
    except (CheckpointError, RunError, OSError) as error:
        choose_run(NEW)
        st.session_state[_REFUSED] = (order.name, why(error))
        return
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_NAME, None)
    forget_filling()
    st.rerun()
