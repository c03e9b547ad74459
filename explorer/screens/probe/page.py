"""The Probe page: what each head does over many sentences, how certain that is, and what happens without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.locale.messages import message, t
from explorer.locale.text import plain
from explorer.probing.measured import Measured
from explorer.screens.probe.cross_checks import draw_cross_checks
from explorer.screens.probe.heads import draw_heads
from explorer.screens.probe.importance import IMPORTANCE, draw_importance
from explorer.screens.probe.one_head import ONE_HEAD, PART, draw_one_head
from explorer.screens.probe.patching import draw_patching
from explorer.screens.probe.sample_choice import Subject, adopt, draw_choice, read_ahead, subject
from explorer.screens.probe.surgery import EFFECT_PART, SURGERY, draw_surgery
from explorer.screens.probe.take_away import draw_take_away
from explorer.web import address, bound, changes_in_force, page_parts, runtime, session, sidebar
from model.folder import CheckpointError

TAB = "probe_tab"  # key, and URL parameter
EFFECT = message("Effect on the answer")
# Where the former tabs are now: links and lessons name them.
MOVED: dict[str, dict[str, str]] = {
    **{name: {TAB: EFFECT, EFFECT_PART: name} for name in ("Surgery", "Patching", "Importance", "Cross-checks")},
    **{name: {TAB: ONE_HEAD, PART: name} for name in ("Search", "Grammar")},
    "Export": {TAB: "Take away"},
}


def prepare() -> None:
    """Read ahead of the first visit what the page opens with; see :mod:`explorer.web.warm_up`."""
    read_ahead()


def draw() -> None:
    """Draw the question, the sample, then the tabs."""
    _follow_former_tab()
    page_parts.heading(
        t("What does each head do, how sure are we, and what happens without it?"),
        t("A head is named after what it does over many sentences. Whether it matters shows when it is switched off."),
    )
    selection = sidebar.selection()
    if selection is None:
        st.info(t("There is no model to probe yet."))
        return
    try:
        described = runtime.describe(selection.model)
    except CheckpointError as broken:
        st.info(plain(str(broken)))
        return
    if not described.is_transformer:
        other = t("This page needs a Transformer; {model} is an LSTM. Choose another model.", model=described.name)
        st.info(plain(other))
        return
    named = address.present()
    if changes_in_force.adopt(selection.model, described.model_config) and (
        named.get(TAB, EFFECT) == EFFECT and EFFECT_PART not in named
    ):
        st.session_state.update(MOVED[SURGERY])  # a link with edits opens the part that shows them
    for problem in (*session.problems(), adopt(selection.model)):
        if problem:
            st.warning(plain(problem))
    choice, description = st.columns([2, 7], vertical_alignment="center")
    with choice:
        draw_choice(described.name)
    caption, progress = description.empty(), st.container()
    probed = subject(described, selection.text)
    so_far = probed.so_far()
    measured = probed.measured() if so_far is None else so_far
    shown = probed if so_far is None else dataclasses.replace(probed, part=len(so_far.sample))
    if measured is not None:
        about = t("Measured on {sample}.", sample=measured.about)
        untrained = "" if runtime.summary(described.name)["trained"] else t("This model is untrained itself.")
        part = t("Of these, {n} has been measured so far.", "Of these, {n} have been measured so far.", n=shown.part)
        fewer = st.session_state.get(TAB, address.present().get(TAB)) == EFFECT
        effect = t("Each part of this tab says how many of them it uses.") if fewer else ""
        caption.caption(plain(" ".join(filter(None, (about, untrained, part if shown.part else "", effect)))))
    _draw_tabs(shown, measured)
    here = dataclasses.replace(session.selection(), model=selection.model, text=selection.text)
    session.write_address(here)
    if shown.part:
        with progress:
            whole = probed.measured(shown.part)
        if whole is not None:
            st.rerun()


def _follow_former_tab() -> None:
    """Open the part of the page where a former tab is now, if a link, a lesson or the browser's history names one."""
    home = MOVED.get(str(st.session_state.get(TAB))) or MOVED.get(address.present().get(TAB, ""))
    if home is None:
        return
    for name in home:
        st.session_state.pop(name, None)
    st.switch_page("pages/probe.py", query_params=address.present() | home)  # the address names the new home


def _nothing() -> None:
    st.caption(t("Nothing has been measured yet."))


def _draw_tabs(subject: Subject, measured: Measured | None) -> None:
    """Draw the tabs; only the content of the open one is drawn."""

    def of_sample(draw: Callable[[Subject, Measured], None]) -> Callable[[], None]:
        return _nothing if measured is None else partial(draw, subject, measured)

    def draw_effect() -> None:
        parts: dict[str, Callable[[], None]] = {
            IMPORTANCE: of_sample(draw_importance),
            SURGERY: partial(draw_surgery, subject, measured),
            message("Patching"): partial(draw_patching, subject, measured),
            message("Cross-checks"): partial(draw_cross_checks, subject, measured),
        }
        names = list(parts)
        parts[bound.segmented(t("Part"), names, key=EFFECT_PART, default=IMPORTANCE, label_visibility="collapsed")]()

    page_parts.draw_tabs(
        "probe",
        {
            message("All heads"): of_sample(draw_heads),
            ONE_HEAD: of_sample(draw_one_head),
            EFFECT: draw_effect,
            message("Take away"): of_sample(draw_take_away),
        },
    )
