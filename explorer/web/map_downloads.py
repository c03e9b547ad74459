"""The downloads of the maps on screen: one button per format."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.head_change import edits_in_words
from explorer.decoding.shown_maps import ShownMaps, shown_maps
from explorer.decoding.translator import Translation
from explorer.files.map_files import KINDS, maps_file, maps_stem
from explorer.files.map_picture import picture_of
from explorer.files.picture_drawing import missing_note
from explorer.locale.messages import t, translated
from explorer.locale.text import plain
from explorer.web.downloads import download_button
from model.trace import AttentionTrace


def draw_translation_downloads(translation: Translation, at: Place, view: str, *, key: str) -> None:
    """Draw the downloads of a translation's maps, whose files name the model, the sentence and its translation."""
    sentence = t("Translation: {text}", text=translation.text)
    if edits := edits_in_words(translation.trace.edits):
        sentence = t("Translation: {text} (edited: {edits})", text=translation.text, edits=edits)
    facts = t("Model {model}. Sentence: {text}", model=translation.model, text=translation.source.text), sentence
    n_prompt, model = translation.n_prompt, translation.model
    draw_downloads(lambda: translation.trace, at, view, model=model, facts=facts, n_prompt=n_prompt, key=key)


def draw_downloads(
    trace_of: Callable[[], AttentionTrace],
    at: Place,
    view: str,
    *,
    model: str,
    facts: tuple[str, ...],
    n_prompt: int = 0,
    key: str,
) -> None:
    """Draw one button per format, whose file is made when it is pressed, and notes on what files cannot show.

    The server keeps the function that makes a button's file at least as long as the page is open. Therefore `trace_of`
    fetches the trace on each call, and holds no arrays itself.
    """

    def maps() -> ShownMaps:
        return shown_maps(trace_of(), at, view, facts=facts, n_prompt=n_prompt)

    def make(kind: str) -> bytes:
        return maps_file(kind, maps(), trace_of())

    try:
        sheet = maps()
    except ValueError as empty:
        st.info(plain(str(empty)))
        return
    st.caption(plain(t("On screen: {title}. {caption}", title=sheet.title, caption=sheet.caption)))
    stem = maps_stem(sheet, model)
    with st.container(horizontal=True):
        for kind, (mime, about) in KINDS.items():
            name = f"{stem}.{kind}"
            download_button(kind.upper(), partial(make, kind), name, mime, key=f"{key}_{kind}", help=translated(about))
    beside = sheet.options.beside and sheet.options.view == "head"
    notes = [t("Of the maps side by side, the one in focus is exported.")] if beside else []
    if notes := [*notes, *filter(None, [missing_note(picture_of(sheet).texts)])]:
        st.caption(plain(" ".join(notes)))
