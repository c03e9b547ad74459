"""Translate: a sentence, its translation, and every head at every step of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from explorer.decoding import domain
from explorer.decoding.examples import examples_of, hint_for
from explorer.decoding.other_paths import OtherPath, chosen_paths, fork_of, hypotheses
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import (
    changes_in_force,
    decoding_choice,
    frame,
    sentence_page,
    session,
    sidebar,
    stepping_page,
)
from explorer.web.attention_views import draw_stepper
from explorer.web.faults import contained
from explorer.web.open_translation import (
    OpenTranslation,
    address_of,
    along,
    draw_way_back,
    leave_lost_model,
    open_translation,
    own_choice,
)
from model.data import TASKS, get_task


def draw() -> None:
    """The whole page."""
    if frame.is_embedded():
        if (opened := open_translation(edited=True)) is not None:
            _explore(opened)
        return
    sentence_page.draw(_translate, labelled=False)
    sidebar.draw_tour()


def _translate() -> None:
    """What follows from the sentence."""
    opened = open_translation(edited=True)
    if opened is None:
        return
    _headline(opened)
    _explore(opened)
    _other_paths(opened)


def _headline(opened: OpenTranslation) -> None:
    """The translation with what can be done about it, then in small type what there is to see or to doubt."""
    with st.container(key="answer", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"#### {plain(opened.shown.text or t('(nothing: the model ended at once)'))}")
            draw_way_back(opened)
            _next_word(opened)
        _remarks(opened)


def _remarks(opened: OpenTranslation) -> None:
    selection, shown, summary = opened.selection, opened.shown, opened.summary
    changes_in_force.draw_edited(shown)
    task = str(summary.get("task"))
    ours = summary["trained"] and not summary["imported"]  # of a model from elsewhere, the data are not known here
    if ours and (doubt := domain.warning(opened.own, get_task(task) if task in TASKS else None)):
        st.warning(plain(doubt), icon=":material/explore_off:")
    hint = hint_for(selection.text, examples_of(summary), shown)
    if lines := [*filter(None, [own_choice(opened), hint]), *shown.notes]:
        st.caption(explained(" ".join(lines)))


def _next_word(opened: OpenTranslation) -> None:
    """How the next word is chosen, and what else beam search found; on the right, above the words to choose from."""
    st.space("stretch")
    label = t("Next word: {choice}", choice=decoding_choice.summary())
    with st.popover(label, key="next_word", help=t("How the next word is chosen")):
        decoding_choice.draw(opened.summary.get("search") or {}, "page")
        for number, other in enumerate(hypotheses(opened.own), start=1):
            if number == 1:
                st.markdown(f"##### {t('Hypotheses of beam search')}")
            text, detail = f"**{plain(other.text)}**", plain(other.detail)
            shown, hidden = t("{text} · {detail} · shown", text=text, detail=detail), f"{text} · {detail}"
            _draw_way(opened, other, shown, hidden, key=f"path-hypothesis-{number}", type="tertiary")


def _draw_way(opened: OpenTranslation, other: OtherPath, shown: str, hidden: str, *, key: str, **look: Any) -> None:
    """A button that opens a path, unless it is on screen; its label says which."""
    on_screen = other.path == (None if opened.selection.path is None else opened.shown.path)
    where = {"path": other.path, "step": other.step}
    label = shown if on_screen else hidden
    st.button(label, key=key, disabled=on_screen, on_click=session.move, kwargs=where, **look)


@st.fragment
@contained("stepper")
def _explore(opened: OpenTranslation) -> None:
    """The stepper; its messages run only this part of the page again."""
    leave_lost_model(opened)
    result = draw_stepper(opened, key="stepper")
    if result.fork is not None:
        _fork(opened, result.fork.step, result.fork.token_id)
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        moving = st.toggle(t("The steps as a moving picture"), key="translate_moving", help=t("A GIF, for slides."))
        if not frame.is_embedded():
            stepping_page.draw(opened.selection, opened.shown, result.place, view="steps", key="translate_steps")
    if moving:
        from explorer.web import moving_picture_panel  # imports a drawing library, which the first screen does not need

        moving_picture_panel.draw(opened.shown, result.place)
    session.write_address(address_of(opened))
    if frame.is_embedded():
        frame.draw_way_out()


def _fork(opened: OpenTranslation, step: int, token: int) -> None:
    """Decode on from another token at row `step` and remember the new path."""
    shown = opened.shown
    forked = along(dataclasses.replace(opened.selection, path=(*shown.path[: step - 1], token)), shown.edit)
    session.add_fork(fork_of(shown, forked, step, token))
    session.move(path=forked.path, step=step)


def _other_paths(opened: OpenTranslation) -> None:
    """The forks made so far; each can be opened."""
    for number, other in enumerate(chosen_paths(opened.own, session.forks()), start=1):
        if number == 1:
            st.markdown(f"##### {t('Paths you chose')}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _draw_way(opened, other, t("Shown"), t("Show"), key=f"path-fork-{number}")
            st.markdown(f"**{plain(other.text)}** — {plain(other.detail)}")
    about = t("Your paths, and what beam search considers.")
    if st.toggle(t("All continuations, as a tree"), key="translate_tree", help=about):
        from explorer.web import decode_tree_panel  # imports a chart library, which the first screen does not need

        decode_tree_panel.draw(opened.selection, opened.shown)
