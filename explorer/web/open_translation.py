"""Open the translation that the selection names; if that is impossible, the page says why."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.decoding.selection import Selection
from explorer.decoding.translator import InputError, Translation
from explorer.decoding.view_options import parse_view
from explorer.locale.messages import t
from explorer.locale.text import plain, quoted
from explorer.web import changes_in_force, runtime, session, sidebar
from model.config import DecodeConfig
from model.edits import EditError, HeadEdits
from model.folder import CheckpointError


@dataclasses.dataclass(frozen=True, eq=False)
class OpenTranslation:
    """The translation on screen, and the model's own (`own`): the same, or the user chose another path.

    `summary` describes the model as it was then (see model.folder); the model may have been deleted or replaced since.
    """

    selection: Selection
    own: Translation
    translation: Translation
    summary: dict[str, Any]


def address_of(opened: OpenTranslation) -> Selection:
    """The session's selection as it stands in the address bar while `opened` is on screen.

    The path is omitted if greedy decoding reproduces it.
    """
    reproducible = opened.selection.path is None and session.decode_config().method == "greedy"
    path = None if reproducible else opened.translation.path
    return dataclasses.replace(session.selection(), model=opened.selection.model, text=opened.selection.text, path=path)


def open_translation(*, edited: bool = False) -> OpenTranslation | None:
    """Open the translation of the sidebar's selection; if that is impossible, say why on the page and return None.

    With `edited`, the selection's head changes are applied.
    """
    selection = sidebar.selection()
    if selection is None:
        st.info(t("There is no model to translate with yet."))
        return None
    opened = None
    try:
        opened = _opened(selection, edited=edited)
    except InputError as nothing:
        st.info(plain(str(nothing)))
        session.write_address(selection)
    except CheckpointError as broken:
        st.error(plain(str(broken)))
    if problems := session.problems():
        st.warning(plain(" ".join(problems)))
    return opened


def _opened(selection: Selection, *, edited: bool) -> OpenTranslation:
    """The translation with the selection's edits, or without them if they do not fit; the session says why."""
    config = session.decode_config()
    summary = runtime.summary(selection.model)
    edit = _edit_of(selection) if edited else None
    try:
        own = runtime.translate(selection.model, selection.text, config, edit=edit)
    except EditError as unfit:
        session.add_problems([str(unfit)])
        edit, own = None, runtime.translate(selection.model, selection.text, config)
    try:
        translation = own if selection.path is None else along(selection, edit)
    except (InputError, EditError) as unfit:
        session.add_problems([str(unfit)])
        session.move(path=None)
        selection, translation = dataclasses.replace(selection, path=None), own
    return OpenTranslation(selection, own, translation, summary)


def leave_lost_model(opened: OpenTranslation) -> None:
    """Run the whole page if the model on screen has been deleted or damaged meanwhile; the sidebar then says so.

    For the first line of a fragment, which would otherwise continue with a model that is gone.
    """
    if opened.selection.model not in runtime.models():
        st.rerun()


def _edit_of(selection: Selection) -> HeadEdits | None:
    if not selection.edit:
        return None
    try:
        changes_in_force.drop_unfit(runtime.describe(selection.model).model_config)
        return changes_in_force.edits_of(selection.model, selection.text, changes_in_force.changes())
    except (InputError, EditError, changes_in_force.NoMeans) as refused:
        session.add_problems([str(refused)])
        return None


def with_changes(translation: Translation) -> Translation:
    """A translation under the changes of heads that are in force; itself, if there are none or they do not fit."""
    selection = session.selection()
    selection = dataclasses.replace(selection, model=translation.model, text=translation.source.text)
    edit = _edit_of(selection)
    if edit is None:
        return translation
    try:
        if selection.path is not None:
            return along(selection, edit)
        return runtime.translate(selection.model, selection.text, session.decode_config(), edit=edit)
    except (InputError, EditError) as unfit:
        session.add_problems([str(unfit)])
        return translation


def along(selection: Selection, edit: HeadEdits | None) -> Translation:
    """The translation along the selection's path, chosen by hand or given by a link; greedy after the path ends."""
    return runtime.translate(selection.model, selection.text, DecodeConfig(), selection.path or (), edit)


def is_guessed(opened: OpenTranslation) -> bool:
    """Whether the words are to be guessed first: then nothing on the page may tell them."""
    return parse_view(opened.selection.view).guess


def draw_answer(opened: OpenTranslation) -> DeltaGenerator:
    """Draw the translation in large type, or that it is to be guessed; return its row, for further buttons.

    A button returns to the model's own choice, if the path on screen was chosen. The style sheet labels the row as a
    translation or a continuation.
    """
    text = opened.translation.text or t("(nothing: the model ended at once)")
    hidden = t("What does the model write? Predict it first.")
    key = None if opened.translation.src_ids else "continuation"
    row = st.container(horizontal=True, vertical_alignment="center", gap="small", key=key)
    row.markdown(f"#### {plain(hidden if is_guessed(opened) else text)}")
    if opened.selection.path is not None:
        back, icon = t("Back to the model's own choice"), ":material/undo:"
        row.button(back, icon=icon, key="own_choice", on_click=session.move, kwargs={"path": None})
    return row


def own_choice(opened: OpenTranslation) -> str | None:
    """A sentence (unescaped) on the model's own translation; None if that is on screen."""
    if opened.selection.path is None:
        return None
    if opened.own.text == opened.translation.text:
        return t("This is a chosen path; it says what the model says by itself.")
    text = quoted(opened.own.text)
    if opened.own.text.endswith((".", "!", "?")):
        return t("This is a chosen path; by itself, the model says {text}", text=text)
    return t("This is a chosen path; by itself, the model says {text}.", text=text)
