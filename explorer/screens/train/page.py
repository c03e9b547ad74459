"""The Train page: the form for a new run (data, model, settings, estimate, Start), or a run to watch."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import streamlit as st

from explorer.charts.training_curves import schedule_figure
from explorer.locale.messages import t, translated
from explorer.locale.text import count, listed, plain
from explorer.runs.command import WHERE, TrainingOrder, quoted_command
from explorer.runs.dry_run import (
    TIMEOUT_SECONDS,
    Plan,
    PlanError,
    PlanService,
    Sizes,
    memory_text,
    sizes_at_once,
)
from explorer.runs.experiment_arms import expected_sentence
from explorer.runs.lifecycle import Runs
from explorer.runs.progress import queue_sentence
from explorer.runs.settings import problem, setting
from explorer.runs.viewer_mode import REASON
from explorer.screens.train.data import Data, choose_data
from explorer.screens.train.findings import CHECK, draw_lines
from explorer.screens.train.settings import (
    choose_computation,
    choose_kind,
    further_fields,
    main_fields,
    part_fields,
    size_fields,
    time_changes,
    training_fields,
    updates_field,
)
from explorer.screens.train.watch import draw_run
from explorer.web import runtime
from explorer.web.faults import contained
from explorer.web.figures import draw_figure
from explorer.web.runs import NEW, attempt, choose_run, draw_missing, draw_refused, run_box
from explorer.web.security import closed
from model.data import TASKS
from model.data.checks import FEWEST_HELD_OUT
from model.durations import span
from model.presets import PRESETS, Preset
from model.user_error import UserError

_ASKER = "_plan_asker"
_NAME, _SUGGESTED = "train_name", "_train_suggested"
_START = "start"  # where a refusal is shown
_POLL_SECONDS = 0.7
_METRIC_PIXELS = (105, 140, 180)  # beside each other on a laptop
_TRIAL = "trial"  # the name of every run that is only estimated, so that all sessions share its plan


@st.cache_resource(show_spinner=False)
def plan_service() -> PlanService:
    """The single service of this server that estimates runs."""
    return PlanService()


def draw() -> None:
    """Draw the form for a new run, or the run that is being watched."""
    runs = Runs(runtime.CHECKPOINTS)
    states = {status.name: status for status in runs.statuses()}
    title, box = st.columns([3, 2], vertical_alignment="center")
    with box:
        name = run_box(t("Run"), [NEW, *states], lambda name: name or t("A new run"))
    watching = t("Watch it learn") if name in states and states[name].busy else t("How it learned")
    title.markdown(f"#### {t('Train a model from scratch') if name == NEW else watching}")
    draw_missing()
    if name == NEW:
        _draw_form(runs)
    else:
        draw_run(runs, name)


def _draw_form(runs: Runs) -> None:
    """Draw the whole form."""
    _draw_busy(runs)
    if closed(t("Training is switched off: {reason}.", reason=translated(REASON))):
        return
    left, right = st.container(key="train_form").columns([2, 3], gap="large")
    with left:
        data = choose_data(runs.checkpoints)
    if data is None:
        return
    with right:
        kind = None if data.proposal is None else choose_kind(data.proposal, data.task)
        if kind is not None:
            data = replace(data, tokens=(("tokenizer", kind.kind),))
        choice, presets = _choose_preset(data)
        preset = presets[choice]
        models = st.container()
        scope = f"{data.task}_{choice}"
        time, naming = st.columns([2, 3])
        with time:
            steps = updates_field(preset, data.task)
        if data.questions:
            sentence = t(
                "The [check of these pairs]({link}) asks {n} question: what is ticked there is left out.",
                "The [check of these pairs]({link}) asks {n} questions: what is ticked there is left out.",
                n=data.questions,
                link=f"#{CHECK}",
            )
            st.caption(sentence)
        panel = st.container()
    draw_lines(data.findings)
    order = TrainingOrder(_TRIAL, data.task, preset.name, data=data.arguments)
    fitted = data.fitted(PRESETS[choice])
    with st.expander(t("Settings")):
        if fitted:
            st.caption(plain(t("Fitted to these pairs: {settings}.", settings=listed(fitted))))
        sizes = st.container()
        changes = main_fields(preset, scope, steps)
        schedule = st.container()
        if more := st.toggle(t("All settings"), key="train_more", persist_state="session"):
            parts = st.container()
            changes += training_fields(preset, scope)
            order = replace(order, **choose_computation())
            changes += further_fields(preset, data, scope, order.init)
    if not order.init:
        with sizes:
            model = size_fields(preset, scope)
        if more:
            with parts:
                model += part_fields(preset, scope)
        changes = data.tokens + model + changes
    order = replace(order, changes=changes)
    unfit = problem(preset, changes)
    plan = None if unfit else _ask(runs, order)
    failed = isinstance(plan, PlanError) and not plan.refused  # the sizes are known all the same
    estimated = not unfit and (plan is None or failed)
    sizes_now = sizes_at_once(order, preset, data.data, data.kind) if estimated else None
    takes = plan.duration_text if isinstance(plan, Plan) else _rough(sizes_now)
    with models:
        _draw_presets(runs, data, presets, choice, takes if isinstance(plan, Plan) else _grey(takes), steps)
    with naming:
        name, misnamed = _choose_name(runs, data)
        order = replace(order, name=name)
    with panel:
        every = None if unfit or plan is not None else _POLL_SECONDS
        estimate = st.fragment(contained("run_plan")(_plan), run_every=every)
        estimate(runs, order, unfit, plan, sizes_now, takes, data.few, misnamed)
        draw_refused(_START)  # not in the part that is redrawn on a timer
        on = t("You can watch, stop and resume it; it goes on when you close the page.")
        perfect = setting(preset, changes, "stop_when_right")
        early = t(
            "It ends early after {n} evaluation without a mistake.",
            "It ends early after {n} evaluations in a row without a mistake.",
            n=perfect,
        )
        if not unfit:
            enough = data.kind is None or data.kind.held_out >= FEWEST_HELD_OUT
            said = (expected_sentence(order, preset), on, early if perfect and enough else "")
            st.caption(plain(" ".join(filter(None, said))))
    with schedule:
        if isinstance(plan, Plan):
            draw_figure(schedule_figure(plan.schedule, str(setting(preset, changes, "schedule"))))
    with st.expander(t("The command")):
        st.caption(t("Start runs exactly this command; you can also run it {where}.", where=translated(WHERE)))
        st.code(quoted_command(order.command(runs.checkpoints)), language="bash", wrap_lines=True)


def _draw_busy(runs: Runs) -> None:
    """Draw a line about the run in training on this server, with a button to watch it."""
    statuses = runs.statuses()
    if not (sentence := queue_sentence(statuses)):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(sentence), width="content")
        first = next(status.name for status in statuses if status.busy)
        st.button(t("Watch it"), key="train_watch", on_click=choose_run, args=(first,))


def _choose_preset(data: Data) -> tuple[str, dict[str, Preset]]:
    """The name of the chosen preset, and all that there are."""
    start = data.default_preset
    presets = {name: data.adapted(preset) for name, preset in PRESETS.items() if name == start or name not in TASKS}
    key = f"train_preset_{data.task}"
    # Set at every run: an interrupted run creates fields that the browser never sees.
    choice = st.session_state[key] = kept if (kept := st.session_state.get(key)) in presets else start
    return choice, presets


def _draw_presets(runs: Runs, data: Data, presets: Mapping[str, Preset], choice: str, takes: str, steps: int) -> None:
    """Draw the choice of a preset, each with its time for so many `steps`, or for its own if nobody typed a number.

    The chosen one `takes` as long as the form says.
    """
    typed = steps != setting(presets[choice], (), "max_steps")

    def time(name: str, preset: Preset) -> str:
        changes = data.tokens + (time_changes(preset, steps) if typed else ())
        if problem(preset, changes):
            return ""
        order = TrainingOrder(_TRIAL, data.task, preset.name, data=data.arguments, changes=changes)
        known, sizes = plan_service().known(_trial(runs, order)), sizes_at_once(order, preset, data.data, data.kind)
        if name == choice:
            return _unbroken(takes)
        rough = _out_of_reach(sizes) or _unbroken(_rough(sizes))
        duration = _grey(rough) if known is None else _unbroken(known.duration_text)
        own = setting(preset, changes, "max_steps")
        if not duration or own == steps:
            return duration
        return t("{n:,} update: {duration}", "{n:,} updates: {duration}", n=own, duration=duration)

    lines = {}
    for name, preset in presets.items():
        said = f"**{plain(name)}**", plain(translated(preset.title)), time(name, preset)
        lines[name] = " · ".join(filter(None, said))
    st.radio(
        t("Model"),
        list(lines),
        format_func=lines.__getitem__,
        key=f"train_preset_{data.task}",
        persist_state="session",
        help=t(
            "Sizes and settings to start from. You can change each of them below. Times in grey are estimates: that of "
            "a model is measured when you choose it."
        ),
    )


def _rough(sizes: Sizes | None) -> str:
    """How long a run of these sizes takes as other trials let expect, or arithmetic; empty without sizes."""
    return "" if sizes is None else span(*plan_service().untimed(sizes))


def _out_of_reach(sizes: Sizes | None) -> str:
    """That a run of these sizes takes days on this machine, if all its updates do; empty otherwise."""
    days = 0 if sizes is None else int(plan_service().least(sizes) / 86400)
    if not days:
        return ""
    return t("out of reach here (at least {n} day)", "out of reach here (at least {n:,} days)", n=days)


def _unbroken(duration: str) -> str:
    return duration.replace(" ", "\N{NO-BREAK SPACE}")


def _grey(estimate: str) -> str:
    return f":gray[{plain(estimate)}]" if estimate else ""


def _choose_name(runs: Runs, data: Data) -> tuple[str, str]:
    """Draw the field for the new model's name, which suggests a free name until the user types one.

    Returns the name and why no run can have it, which is said below the field.
    """
    suggested = runs.free_name(data.wanted_name)
    if st.session_state.get(_NAME) in (None, "", st.session_state.get(_SUGGESTED)):
        st.session_state[_NAME] = st.session_state[_SUGGESTED] = suggested
    text = st.text_input(
        t("Name"),
        key=_NAME,
        persist_state="session",
        max_chars=64,
        help=t("The name of the model in all lists, and of its folder."),
    )
    name = (text or suggested).strip()
    if misnamed := runs.unfit_name(name):
        st.error(plain(misnamed))
    return name, misnamed


def _ask(runs: Runs, order: TrainingOrder) -> Plan | PlanError | None:
    asker = st.session_state.setdefault(_ASKER, uuid.uuid4().hex)
    return plan_service().ask(asker, _trial(runs, order))


def _trial(runs: Runs, order: TrainingOrder) -> list[str]:
    """The command that estimates the run, the same for any name."""
    return replace(order, name=_TRIAL).trial(runs.checkpoints)


def _plan(
    runs: Runs,
    order: TrainingOrder,
    unfit: str,
    answer: Plan | PlanError | None,
    sizes: Sizes | None,
    takes: str,
    few: str,
    misnamed: str,
) -> None:
    """Draw the estimate and the Start button, on a timer until there is an `answer`; `sizes` are shown before.

    `takes` is the time as the list of models says it. The button stands out unless the pairs are too
    `few`, of which this sentence says so, and cannot be pressed while the run is `misnamed`.
    """
    if answer is None and not unfit and _ask(runs, order) is not None:
        st.rerun()  # the timer stops, and the list and the schedule are drawn with the answer
    plan = answer if isinstance(answer, Plan) else None
    unknown = "…" if answer is None and not unfit else "–"  # still to come, or not at all
    counted = needed = unknown
    if plan is not None:
        counted, needed = count(plan.parameters), t("≈ {amount}", amount=memory_text(plan.memory))
    elif sizes is not None:
        counted = t("≈ {amount}", amount=count(sizes.parameters))
        needed = t("≈ {amount}", amount=memory_text(sizes.memory))
    with st.container(horizontal=True):
        labels = t("Parameters"), t("Memory needed"), t("Takes")
        for label, value, width in zip(labels, (counted, needed, takes or unknown), _METRIC_PIXELS, strict=True):
            help = Plan.range_sentence() if takes and label == labels[-1] else None
            st.metric(label, value, width=width, help=help)
    impossible = bool(unfit) or (isinstance(answer, PlanError) and answer.refused)
    kind: Literal["primary", "secondary"] = "secondary" if few else "primary"
    if st.button(t("Start training"), type=kind, disabled=impossible or bool(misnamed), width="stretch"):
        attempt(_START, _start, runs, order)
        st.rerun()
    if few:
        st.warning(plain(few))
    if impossible:
        st.error(plain(unfit or str(answer)))
    elif isinstance(answer, PlanError):
        st.warning(plain(str(answer)))
        if st.button(t("Estimate again")):
            plan_service().forget(_trial(runs, order))
            st.rerun()  # the timer starts again
        if sizes is not None:
            st.caption(t("Times and sizes are estimates."))
    elif plan is None:
        timing = t(
            "A few updates are being timed on this machine (up to {seconds:.0f} s). Until then, times and sizes are "
            "estimates.",
            seconds=TIMEOUT_SECONDS,
        )
        st.caption(timing)
    else:
        st.caption(plain(plan.summary()))


def _start(runs: Runs, order: TrainingOrder) -> None:
    choose_run(order.name)  # first: another script run may take over at any access to the session
    try:
        runs.start(order.name, order.command(runs.checkpoints))
    except (UserError, OSError):
        choose_run(NEW)
        raise
    st.session_state.pop(_NAME, None)
