"""The Translate page: a sentence, its translation, and every head at every step of it."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from explorer.decoding import domain
from explorer.decoding.examples import examples_of, hint_for, offer_of
from explorer.decoding.other_paths import OtherPath, chosen_paths, fork_of, hypotheses
from explorer.decoding.view_options import parse_view
from explorer.locale.glossary import explained
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.web import (
    changes_in_force,
    decoding_choice,
    frame,
    sentence_page,
    session,
    sidebar,
)
from explorer.web.attention_views import draw_stepper
from explorer.web.faults import contained
from explorer.web.open_translation import (
    OpenTranslation,
    address_of,
    along,
    draw_answer,
    is_guessed,
    leave_lost_model,
    open_translation,
    own_choice,
)


def draw() -> None:
    """Draw the whole page."""
    if frame.is_embedded():
        sentence_page.draw_embedded(_embedded)
        return
    sentence_page.draw(_translate)
    sidebar.draw_tour()


def _embedded() -> None:
    """Draw the stepper alone, in a frame of another page."""
    if (opened := open_translation(edited=True)) is not None:
        _explore(opened)


def _translate() -> None:
    """Draw everything that depends on the sentence."""
    opened = open_translation(edited=True)
    if opened is None:
        return
    _headline(opened)
    _explore(opened)
    if not is_guessed(opened):
        _other_paths(opened)


def _headline(opened: OpenTranslation) -> None:
    """Draw the translation with its buttons, and below it hints and warnings in small type."""
    with st.container(key="answer", gap="xxsmall"):
        with draw_answer(opened):
            _next_word(opened)
        _remarks(opened)


def _remarks(opened: OpenTranslation) -> None:
    selection, translation, summary = opened.selection, opened.translation, opened.summary
    changes_in_force.draw_edited(translation)
    if doubts := domain.doubts_of(opened.own, summary):
        icon = ":material/explore_off:"
        st.warning(plain(" ".join(doubts)), icon=icon)
        short = plain(" ".join(doubts[:2]))
        with st.container(key="phone_doubt"), st.expander(short, icon=icon):  # in its place on a phone: frame.css
            st.caption(plain(" ".join(doubts[2:] or doubts)))
    if is_guessed(opened):
        return  # hints name the words to be guessed
    prompts = examples_of(summary)
    hint = hint_for(selection.text, prompts, translation)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="hint"):
        if lines := [*filter(None, [own_choice(opened), hint]), *map(str, translation.notes)]:
            st.caption(explained(" ".join(lines)), width="content")
        if offer := offer_of(selection.text, prompts, translation):
            step, token_id, token = offer
            label = t("Choose {word}", word=quoted(token))
            st.button(plain(label), key="hint_offer", on_click=_fork, args=(opened, step, token_id))


def _next_word(opened: OpenTranslation) -> None:
    """Draw the choice of how the next word is chosen, and the hypotheses of beam search, above the words on offer."""
    st.space("stretch")
    label = t("Next word: {choice}", choice=decoding_choice.summary())
    with st.popover(label, key="next_word", help=t("How the next word is chosen")):
        decoding_choice.draw(opened.summary.get("search") or {})
        for number, other in enumerate(() if is_guessed(opened) else hypotheses(opened.own), start=1):
            if number == 1:
                about = t(
                    "The score is the summed log-probability of a hypothesis, divided as the length penalty says. The "
                    "highest one wins."
                )
                st.markdown(f"##### {t('Hypotheses of beam search')}", help=about)
            text, detail = f"**{plain(other.text)}**", plain(other.detail)
            current = t("{text} · {detail} · shown", text=text, detail=detail)
            _draw_path_button(
                opened, other, current, f"{text} · {detail}", key=f"path-hypothesis-{number}", type="tertiary"
            )


def _draw_path_button(
    opened: OpenTranslation, other: OtherPath, current: str, available: str, *, key: str, **look: Any
) -> None:
    """Draw a button that opens a path; it is disabled and labelled `current` if the path is on screen."""
    on_screen = other.path == (None if opened.selection.path is None else opened.translation.path)
    where = {"path": other.path, "step": other.step}
    label = current if on_screen else available
    st.button(label, key=key, disabled=on_screen, on_click=session.move, kwargs=where, **look)


@st.fragment
@contained("stepper")
def _explore(opened: OpenTranslation) -> None:
    """Draw the stepper; its messages rerun only this part of the page."""
    leave_lost_model(opened)
    way_out = frame.way_out() if frame.is_embedded() else None
    result = draw_stepper(opened, key="stepper")
    if result.fork is not None:
        _fork(opened, result.fork.step, result.fork.token_id)
        st.rerun()
    if parse_view(result.view).guess != is_guessed(opened):
        st.rerun()  # what is above the stepper appears or disappears
    session.write_address(address_of(opened))
    if way_out is not None:
        frame.draw_way_out(way_out)
    elif sidebar.asked("export"):
        from explorer.screens.translate import export  # imports drawing libraries that the first screen does not need

        export.draw(opened, result.place)
    elif sidebar.asked("embed"):
        from explorer.web import embedding

        embedding.draw(opened, result.place, view="steps")


def _fork(opened: OpenTranslation, step: int, token: int) -> None:
    """Continue decoding from another token at row `step`, and remember the new path."""
    translation = opened.translation
    forked = along(dataclasses.replace(opened.selection, path=(*translation.path[: step - 1], token)), translation.edit)
    session.add_fork(fork_of(translation, forked, step, token))
    session.move(path=forked.path, step=step)


def _other_paths(opened: OpenTranslation) -> None:
    """Draw the forks made so far, each with a button that opens it."""
    for number, other in enumerate(chosen_paths(opened.own, session.forks()), start=1):
        if number == 1:
            st.markdown(f"##### {t('Paths you chose')}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _draw_path_button(opened, other, t("Shown"), t("Show"), key=f"path-fork-{number}")
            st.markdown(f"**{plain(other.text)}** — {plain(other.detail)}")
