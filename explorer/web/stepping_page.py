"""The translation on screen as a file that steps, with the forks that were made: the button that downloads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.selection import Selection
from explorer.decoding.translator import Translation
from explorer.locale.text import plain
from explorer.web import runtime, session
from explorer.web.downloads import download_button
from model.config import DecodeConfig

if TYPE_CHECKING:
    from explorer.browser.structs import StandaloneView

LABEL = "Page that steps (HTML)"
MOST_FORKS = 12  # in one file; the newest ones


def draw(selection: Selection, shown: Translation, at: Place, *, view: StandaloneView, key: str) -> None:
    """A download button; the file is made when it is pressed, and opens at the place on screen."""
    config, forks = session.decode_config(), session.forks()[-MOST_FORKS:]
    model, text, edit = selection.model, selection.text, shown.edit

    def make() -> bytes:
        from explorer.files.standalone_page import Recording, translation_page

        own = runtime.translate(model, text, config, edit=edit)
        recordings = [Recording(own, own.text, "the model's own choice")]
        for fork in forks:
            along = runtime.translate(model, text, DecodeConfig(), fork.path or (), edit)
            recordings.append(Recording(along, along.text, fork.detail, fork.step))
        return translation_page(recordings, shown=shown, place=at, view=view, options=selection.view)

    made = f", with {len(forks)} of the continuations that you tried" if forks else ""
    about = (
        f"One file that opens in any browser, without Headlight and without a network: steps, candidates, maps{made}."
    )
    download_button(LABEL, make, f"{model}-steps.html", "text/html", key=key, help=plain(about))


def draw_section(selection: Selection, shown: Translation, at: Place) -> None:
    """The button with its heading, for a panel of exports."""
    st.markdown("##### The whole translation, to step through elsewhere")
    draw(selection, shown, at, view="heads", key="export_steps")
