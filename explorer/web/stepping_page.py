"""The button that downloads the translation on screen, with its forks, as a page to step through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import runtime, session
from explorer.web.downloads import download_button
from model.config import DecodeConfig

if TYPE_CHECKING:
    from explorer.browser.structs import StandaloneView

MOST_FORKS = 12  # in one file; the newest ones


def draw(selection: Selection, translation: Translation, at: Place, *, view: StandaloneView, key: str) -> None:
    """Draw the download button; the file is made when it is pressed, and opens at the place on screen."""
    config, forks = session.decode_config(), session.forks()[-MOST_FORKS:]
    model, text, edit = selection.model, selection.text, translation.edit

    def make() -> bytes:
        from explorer.files.standalone_page import Recording, translation_page

        own = runtime.translate(model, text, config, edit=edit)
        recordings = [Recording(own, own.text, t("the model's own choice"))]
        for fork in forks:
            along = runtime.translate(model, text, DecodeConfig(), fork.path or (), edit)
            recordings.append(Recording(along, along.text, fork.detail, fork.step))
        return translation_page(recordings, shown=translation, place=at, view=view, options=selection.view)

    about = (
        t(
            "One file that opens in any browser, without Headlight and without a network: steps, candidates, maps, and "
            "{n} of the continuations that you tried.",
            n=len(forks),
        )
        if forks
        else t("One file that opens in any browser, without Headlight and without a network: steps, candidates, maps.")
    )
    label = t("Page that steps (HTML)")
    download_button(label, make, f"{model}-steps.html", "text/html", key=key, help=plain(about))


def draw_section(selection: Selection, translation: Translation, at: Place) -> None:
    """Draw the button with its heading, for the export panel."""
    st.markdown(f"##### {t('The whole translation, to step through elsewhere')}")
    draw(selection, translation, at, view="heads", key="export_steps")
