"""Translate: a sentence, its translation, and every head at every step of it."""

from __future__ import annotations

import dataclasses

import streamlit as st

from explorer.text import percent, plain, quoted
from explorer.translation import domain
from explorer.translation.examples import examples_of, note_for
from explorer.translation.selection import Selection
from explorer.translation.translator import Translation
from explorer.web import changes_in_force, runtime, session
from explorer.web.attention_views import draw_stepper
from explorer.web.open_translation import OpenTranslation, address_of, along, open_translation
from model.data import TASKS, get_task


def draw() -> None:
    """The whole page."""
    found = open_translation(edited=True)
    if found is None:
        return
    _headline(found)
    _explore(found)
    _other_paths(found.selection, found.own, found.shown)


def _headline(found: OpenTranslation) -> None:
    selection, shown = found.selection, found.shown
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"#### {plain(shown.text) or '(nothing: the model ended at once)'}")
        if selection.path is not None:
            st.badge("a chosen path", color="orange")
            st.button(
                "Back to the model's own choice",
                icon=":material/undo:",
                key="own_choice",
                on_click=session.move,
                kwargs={"path": None},
            )
    changes_in_force.draw_edited(shown)
    summary = runtime.models()[selection.model]
    task = str(summary.get("task"))
    if summary["trained"] and (doubt := domain.warning(found.own, get_task(task) if task in TASKS else None)):
        st.warning(plain(doubt), icon=":material/explore_off:")
    note = note_for(selection.text, examples_of(summary))
    lines = ([f"What to look for: {note}" + ("" if note[-1] in ".?!" else ".")] if note else []) + list(shown.notes)
    if lines:
        st.caption(plain(" ".join(lines)))


@st.fragment
def _explore(found: OpenTranslation) -> None:
    """The stepper; its messages run only this part of the page again."""
    result = draw_stepper(found, key="stepper")
    if result.fork is not None:
        _fork(found, result.fork.step, result.fork.token_id)
        st.rerun()
    here = address_of(found)
    # The view and panel of the Attention page do not belong to this page's address.
    session.write_address(dataclasses.replace(here, view="", panel="", cell=None))


def _fork(found: OpenTranslation, step: int, token: int) -> None:
    """Decode on from another token at row `step` and remember the new path."""
    row, shown = step - 1, found.shown
    rank = [int(i) for i in shown.trace.top_ids[row]].index(token)
    forked = along(dataclasses.replace(found.selection, path=(*shown.path[:row], token)), found.edit)
    session.add_fork(
        session.Fork(
            path=forked.path,
            step=step,
            chosen=shown.trace.top_tokens[row][rank],
            instead=shown.trace.predicted_tokens[row],
            probability=float(shown.trace.top_probabilities[row][rank]),
            text=forked.text,
        )
    )
    session.move(path=forked.path, step=step)


def _other_paths(selection: Selection, own: Translation, shown: Translation) -> None:
    """Hypotheses of beam search, and the forks made so far; each can be opened."""
    if own.candidates:
        st.markdown("##### Hypotheses of beam search")
        for rank, candidate in enumerate(own.candidates, start=1):
            ended = "" if candidate.finished else " · cut off"
            detail = f"score {candidate.score:.3f} · log-probability {candidate.log_prob:.3f} nats{ended}"
            path = None if candidate.path == own.path else candidate.path
            _path_row(f"hypothesis-{rank}", f"{rank}. {candidate.text}", detail, path, candidate.path == shown.path)
    if session.forks():
        st.markdown("##### Paths you chose")
        _path_row("own", own.text, "the model's own choice", None, selection.path is None)
        for number, fork in enumerate(session.forks(), start=1):
            chosen, instead = quoted(fork.chosen), quoted(fork.instead)
            detail = f"step {fork.step}: {chosen} ({percent(fork.probability, 1)}) instead of {instead}"
            _path_row(f"fork-{number}", fork.text, detail, fork.path, fork.path == shown.path, fork.step)

    about = "Your paths, and what beam search considers."
    if st.toggle("All continuations, as a tree", key="translate_tree", help=about):
        from explorer.web import decode_tree_panel  # imports a chart library, which the first screen does not need

        decode_tree_panel.draw(selection, shown)


def _path_row(key: str, text: str, detail: str, path: tuple[int, ...] | None, is_shown: bool, step: int = 0) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Shown" if is_shown else "Show",
            key=f"path-{key}",
            disabled=is_shown,
            on_click=session.move,
            kwargs={"path": path, "step": step},
        )
        st.markdown(f"**{plain(text)}** — {plain(detail)}")
