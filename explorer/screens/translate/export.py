"""The dialog Export of the Translate page: the maps, the page that steps, and the moving picture, as files."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.locale.messages import t
from explorer.web import moving_picture_panel, stepping_page
from explorer.web.map_downloads import draw_translation_downloads
from explorer.web.open_translation import OpenTranslation

_VIEW = "head.steps"  # the map of the head in view, up to the step in view


def draw(opened: OpenTranslation, at: Place) -> None:
    """Draw the downloads of what the stepper shows at a place."""
    st.dialog(t("Export"), width="medium")(_draw)(opened, at)


def _draw(opened: OpenTranslation, at: Place) -> None:
    st.markdown(f"##### {t('The map on screen')}")
    draw_translation_downloads(opened.translation, at, _VIEW, key="export")
    st.markdown(f"##### {t('All steps, to step through elsewhere')}")
    stepping_page.draw(opened.selection, opened.translation, at, view="steps", key="export_steps")
    st.markdown(f"##### {t('The steps as a moving picture')}")
    moving_picture_panel.draw(opened.translation, at)
