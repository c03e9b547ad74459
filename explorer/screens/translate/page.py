"""Translate: a sentence, its translation, and every head at every step of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import streamlit as st

from explorer.decoding import domain
from explorer.decoding.examples import examples_of, hint_for
from explorer.decoding.other_paths import OtherPath, chosen_paths, fork_of, hypotheses
from explorer.locale.glossary import explained
from explorer.locale.text import plain
from explorer.web import (
    changes_in_force,
    chosen_path,
    decoding_choice,
    embedded,
    sentence_page,
    session,
    stepping_page,
    welcome,
)
from explorer.web.attention_views import draw_stepper
from explorer.web.faults import contained
from explorer.web.open_translation import OpenTranslation, address_of, along, leave_lost_model, open_translation
from model.data import TASKS, get_task


def draw() -> None:
    """The whole page."""
    if embedded.is_embedded():
        if (opened := open_translation(edited=True)) is not None:
            _explore(opened)
        return
    sentence_page.draw(_translate, labelled=False)
    welcome.draw_tour()


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
        _answer(opened)
        _remarks(opened)


def _answer(opened: OpenTranslation) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"#### {plain(opened.shown.text) or '(nothing: the model ended at once)'}")
        chosen_path.draw_way_back(opened)
        _next_word(opened)


def _remarks(opened: OpenTranslation) -> None:
    selection, shown = opened.selection, opened.shown
    changes_in_force.draw_edited(shown)
    summary = opened.summary
    task = str(summary.get("task"))
    known = summary["trained"] and not summary["imported"]  # of a model from elsewhere, the data are not known here
    if known and (doubt := domain.warning(opened.own, get_task(task) if task in TASKS else None)):
        st.warning(plain(doubt), icon=":material/explore_off:")
    hint = hint_for(selection.text, examples_of(summary), shown)
    if lines := [*filter(None, [chosen_path.own_choice(opened), hint]), *shown.notes]:
        st.caption(explained(" ".join(lines)))


def _next_word(opened: OpenTranslation) -> None:
    """How the next word is chosen, and what else beam search found; on the right, above the words to choose from."""
    st.space("stretch")
    with st.popover(f"Next word: {decoding_choice.summary()}", key="next_word", help="How the next word is chosen"):
        decoding_choice.draw(opened.summary.get("search") or {}, "page")
        _draw_hypotheses(hypotheses(opened.own, opened.shown))


def _draw_hypotheses(found: Sequence[OtherPath]) -> None:
    if found:
        st.markdown("##### Hypotheses of beam search")
    for number, other in enumerate(found, start=1):
        st.button(
            f"**{plain(other.text)}** · {plain(other.detail)}" + (" · shown" if other.is_shown else ""),
            key=f"path-hypothesis-{number}",
            disabled=other.is_shown,
            type="tertiary",
            on_click=session.move,
            kwargs={"path": other.path, "step": other.step},
        )


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
        moving = st.toggle("The steps as a moving picture", key="translate_moving", help="GIF or APNG, for slides.")
        if not embedded.is_embedded():
            stepping_page.draw(opened.selection, opened.shown, result.place, view="steps", key="translate_steps")
    if moving:
        from explorer.web import moving_picture_panel  # imports a drawing library, which the first screen does not need

        moving_picture_panel.draw(opened.shown, result.place)
    # The view and panel of the Attention page do not belong to this page's address.
    here = dataclasses.replace(address_of(opened), view="", panel="", cell=None)
    if embedded.is_embedded():
        embedded.draw_link(here)
    session.write_address(here)


def _fork(opened: OpenTranslation, step: int, token: int) -> None:
    """Decode on from another token at row `step` and remember the new path."""
    shown = opened.shown
    forked = along(dataclasses.replace(opened.selection, path=(*shown.path[: step - 1], token)), opened.edit)
    session.add_fork(fork_of(shown, forked, step, token))
    session.move(path=forked.path, step=step)


def _other_paths(opened: OpenTranslation) -> None:
    """The forks made so far; each can be opened."""
    own, shown, on_own_path = opened.own, opened.shown, opened.selection.path is None
    _draw_paths("Paths you chose", "fork", chosen_paths(own, shown, session.forks(), on_own_path=on_own_path))
    about = "Your paths, and what beam search considers."
    if st.toggle("All continuations, as a tree", key="translate_tree", help=about):
        from explorer.web import decode_tree_panel  # imports a chart library, which the first screen does not need

        decode_tree_panel.draw(opened.selection, shown)


def _draw_paths(title: str, key: str, paths: Sequence[OtherPath]) -> None:
    if paths:
        st.markdown(f"##### {title}")
    for number, other in enumerate(paths, start=1):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Shown" if other.is_shown else "Show",
                key=f"path-{key}-{number}",
                disabled=other.is_shown,
                on_click=session.move,
                kwargs={"path": other.path, "step": other.step},
            )
            st.markdown(f"**{plain(other.text)}** — {plain(other.detail)}")
