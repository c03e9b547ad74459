"""Training runs on the pages that show or start them: the box of runs, metrics, wrong answers, the Train form.

Nothing here imports torch before it is needed: the pages Train and Runs open without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from explorer.charts.training_curves import evaluation_table, loss_figure, rate_figure, score_figure
from explorer.locale.messages import message, t, translated
from explorer.locale.text import plain, why
from explorer.runs.command import like_command, longer_command, quoted_command
from explorer.runs.lifecycle import Entry, Runs
from explorer.runs.metrics import Metrics, load_metrics
from explorer.runs.origin import Repeatable, repeatable
from explorer.runs.settings import refusal
from explorer.runs.viewer_mode import viewing
from explorer.web import address, runtime
from explorer.web.figures import draw_figure, draw_table
from explorer.web.long_work import asked, with_progress
from model.data.task import DataError
from model.folder import METRICS, CheckpointError
from model.nearest import nearest
from model.user_error import UserError, readable

if TYPE_CHECKING:
    from explorer.probing.reporting import Report
    from explorer.runs.wrong_answers import WrongAnswers
    from model.checkpoint import LoadedModel

RUN, ENTRY = "run", "entry"  # keys of the choices on Train and on Runs, and names of their URL parameters
NEW = ""
Option = TypeVar("Option", bound=str)
WRONG_ANSWERS = message("Find all wrong validation answers")
_FIGURES = {message("scores"): score_figure, message("learning rate"): rate_figure}
_NEXT, _MISSING = "_run_next", "_run_missing"
_REFUSED, _WATCH = "_refused_", "_again_watch"


def choose_one(label: str, options: Sequence[Option], *, key: str, **more: Any) -> Option:
    """Draw a row of buttons, one of which is always pressed, at first the first; the label is for screen readers."""
    chosen = st.segmented_control(
        label, options, default=options[0], required=True, key=key, label_visibility="collapsed", **more
    )
    return chosen or options[0]


def choose_run(name: str, key: str = RUN) -> None:
    """Select this run from the next script run on; `NEW` selects the form for a new run."""
    st.session_state[_NEXT] = (key, name)


def wanted(key: str, names: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Those of the `names` that another page or a link asks for, or else those `kept`.

    If a link names a missing one, nothing else is opened, and :func:`draw_missing` says so.
    """
    group, here = address.choice(key), key in st.session_state
    for_key, chosen = st.session_state.get(_NEXT, ("", ""))
    if for_key == key:  # a choice for the other page is left for that page
        del st.session_state[_NEXT]
        forget_missing()
        return list(chosen.split(address.SEVERAL))
    if not here:
        forget_missing()  # from an earlier visit to the page
    # Before anything is chosen, even a name that this session wrote is a request: a page link has led here.
    asked = (group.asked() if here else group.present()).get(key, "")
    links = asked.split(address.SEVERAL) if asked else []
    if missing := [name for name in links if name not in names]:
        st.session_state[_MISSING] = t(
            "There is no “{name}” here. {nearest}",
            name=readable(missing[0]),
            nearest=nearest(missing[0], list(filter(None, names))),
        )
    found = [name for name in links if name in names]
    return found or [name for name in kept if (here or not missing) and name in names]


def run_box(label: str, names: Sequence[str], format_func: Callable[[str], str] = str) -> str:
    """Draw the box of runs and return the chosen name; the address has it unless it is `NEW`."""
    options = list(names)
    name = (wanted(RUN, options, [st.session_state.get(RUN, NEW)]) or options)[0]
    if name not in options:  # a run that has just been started
        options.append(name)
    # Set even if unchanged: to Streamlit, a box whose options have changed is a new one.
    st.session_state[RUN] = name
    box = st.selectbox(
        label, options, format_func=format_func, key=RUN, label_visibility="collapsed", on_change=forget_missing
    )
    address.choice(RUN).write({RUN: box or NEW})
    return box or NEW


def draw_missing() -> None:
    """Say that the run or model named by a link does not exist, until another is chosen: the page is often redrawn.

    Separate from the box, which has no room for it.
    """
    if missing := st.session_state.get(_MISSING, ""):
        st.warning(plain(missing))


def forget_missing() -> None:
    """Say no longer that a link names what is not here."""
    st.session_state.pop(_MISSING, None)


def attempt(place: str, action: Callable[..., object], *arguments: object) -> None:
    """Carry out a button's action; if it is refused, :func:`draw_refused` says why at this place."""
    try:
        action(*arguments)
    except (UserError, OSError) as refused:
        st.session_state[_REFUSED + place] = why(refused)


def draw_refused(place: str) -> bool:
    """Say why the last action of this place was refused, and return whether it was."""
    reason = st.session_state.pop(_REFUSED + place, "")
    if reason:
        st.error(plain(reason))
    return bool(reason)


def metrics_of(runs: Runs, name: str) -> Metrics:
    """Everything the run has logged so far."""
    return load_metrics(runs.folder(name) / METRICS)


def draw_curves(metrics: Metrics, alike: bool, *, key: str, max_steps: int = 0, mark: int | None = None) -> None:
    """Draw the losses of a run beside its scores or learning rate, and a table of its evaluations."""
    if not metrics.train and not metrics.evals:
        return
    left, right = st.columns(2, gap="large")
    with left:
        draw_figure(loss_figure(metrics, max_steps, mark, alike=alike))
    with right:
        if not metrics.scored:
            draw_figure(rate_figure(metrics, max_steps))
            return
        figure = st.container()  # the switch is below it, so that both curves start at the same height
        chosen = choose_one(t("Right-hand curve"), list(_FIGURES), key=f"{key}_curve", format_func=translated)
        with figure:
            draw_figure(_FIGURES[chosen](metrics, max_steps, mark))
    table = st.expander(t("The evaluations as a table"), on_change="rerun", key=f"{key}_table")
    if table.open:
        table.dataframe(evaluation_table(metrics), hide_index=True)


def draw_again(runs: Runs, name: str, key: str) -> None:
    """Draw the two buttons with their forms, Train again and Train longer; nothing for a model in training."""
    if st.session_state.pop(_WATCH, False):  # first, because a run that is trained longer is busy by now
        st.switch_page("pages/train.py")
    status = runs.peek(name)
    if viewing() or (status is not None and status.busy) or not runs.folder(name).is_dir():
        return
    run = repeatable(runs.folder(name), status)
    if run is None:
        return
    with st.popover(t("Train again like this")):
        if run.missing:
            st.caption(plain(run.missing))
        else:
            _like(runs, name, run, key)
    if run.can_go_on:
        with st.popover(t("Train longer")):
            _longer(runs, name, run, key)
    draw_refused("again")


def _like(runs: Runs, name: str, run: Repeatable, key: str) -> None:
    about = t("The same data and settings as “{name}”. The same seed gives the same weights.", name=name)
    st.caption(plain(f"{about} {run.computed}"))
    # Without bounds, here and below: the browser marks a number beyond them red, but Start would use the one before.
    seed = int(st.number_input(t("Seed"), value=run.seed + 1, step=1, key=f"{key}_seed_{name}"))
    new = st.text_input(t("Name of the new model"), value=runs.free_name(name), max_chars=64, key=f"{key}_name_{name}")
    new = new.strip() or runs.free_name(name)
    changes = (("seed", str(seed)),)
    command = like_command(name, new, changes, runs.checkpoints)
    unfit = refusal("seed", seed) or runs.unfit_name(new)
    draw_start(command, unfit, f"{key}_like_{name}", new, lambda: runs.start(new, command))


def _longer(runs: Runs, name: str, run: Repeatable, key: str) -> None:
    about = st.empty()
    twice = max(2 * run.steps, run.steps + 1)
    steps = int(st.number_input(t("Updates in total"), value=twice, step=1, key=f"{key}_steps_{name}"))
    unfit = refusal("max_steps", steps)
    if not unfit and steps <= run.steps:
        unfit = t(
            "It has made {n} update already; choose more than that.",
            "It has made {n:,} updates already; choose more than that.",
            n=run.steps,
        )
    if not unfit:
        continues = t("“{name}” continues from step {n:,}.", name=name, n=run.steps)
        about.caption(plain(f"{continues} {run.longer_sentence(steps)}"))
    command = longer_command(name, steps, runs.checkpoints)
    draw_start(command, unfit, f"{key}_longer_{name}", name, lambda: runs.longer(name, steps))


def draw_start(command: Sequence[str], unfit: str, key: str, watched: str, start: Callable[[], None]) -> None:
    """Draw the command and its Start button, or why the choices are `unfit`; starting shows the run `watched`."""
    if unfit:
        st.error(plain(unfit))
    st.code(quoted_command(command), language="bash", wrap_lines=True)
    begin = ("again", _begin, start, watched)
    st.button(t("Start"), key=key, type="primary", disabled=bool(unfit), on_click=attempt, args=begin)


def _begin(start: Callable[[], None], watched: str) -> None:
    """Start the process, and open its run on the Train page."""
    start()
    choose_run(watched)
    st.session_state[_WATCH] = True


def draw_wrong_answers(entry: Entry, *, quiet: bool = False) -> None:
    """Draw the button that has the validation sentences translated, then the wrong answers; or why there are none.

    `quiet`: another button is the page's main one, and the page says already whether all were right.
    """
    if entry.problem or not entry.summary.get("model"):
        st.info(t("There is no model in this folder yet."))
    elif entry.busy:
        st.caption(t("The model is being trained; its wrong answers can be listed afterwards."))
    elif (entry.summary["results"].get("valid") or {}).get("exact_match") == 1:
        if not quiet:
            st.caption(t("No wrong validation answer: at the end of training, all were exactly right."))
    else:
        _draw_asked_answers(entry.name, quiet)


def _draw_asked_answers(name: str, quiet: bool) -> None:
    try:
        key = ("wrong answers", name, runtime.fingerprint(name))
    except CheckpointError as gone:
        st.caption(plain(str(gone)))
        return
    if not asked(key, translated(WRONG_ANSWERS), quiet=quiet):
        return
    try:
        answers = with_progress(key, partial(runtime.compute_in_parts, name, _find), t("Translating"))
    except DataError as missing:
        st.info(plain(str(missing)))
        return
    if answers is None:
        return
    st.caption(plain(answers.caption()))
    if answers.answers:
        draw_table(answers.columns(), answers.caption(), file="wrong-answers")


def _find(loaded: LoadedModel, report: Report) -> WrongAnswers:
    from explorer.runs.wrong_answers import validation_task, wrong_answers

    return wrong_answers(loaded, validation_task(loaded), report)


def field_key(scope: str, name: str) -> str:
    """The session key of a setting's field."""
    return f"train_{scope}_{name}"
