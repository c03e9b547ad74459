"""Draw a single map: title, figure, caption, and the table of its numbers."""

from __future__ import annotations

import streamlit as st

from explorer.charts.attention_map import map_figure
from explorer.decoding.captions import map_caption
from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.map_tables import map_table
from explorer.files.map_files import TYPES, map_files, map_stem
from explorer.locale.text import plain
from explorer.web.downloads import download_button
from explorer.web.figures import draw_table

CONFIG = {"displayModeBar": False, "scrollZoom": False}


def draw_map(
    shown: LabelledMap, *, key: str, prefix: str = "", table: bool = True, away: str = "", wide: bool = False
) -> None:
    """Draw the map under its title; `prefix` precedes the caption that is computed from the numbers.

    `wide` means that the map has the page's full width. `away` is the prefix of its file names; without a prefix, or
    without the table, there are no files.
    """
    st.markdown(f"##### {plain(shown.title)}")
    caption = f"{prefix} {map_caption(shown)}".strip()
    with st.container(key=f"wide_{key}"):  # scrolls horizontally on a phone; see explorer/web/frame.py
        st.plotly_chart(map_figure(shown, wide=wide), key=key, width="stretch", config=CONFIG)
    st.caption(plain(caption))
    if table:
        with st.expander("The numbers"):
            draw_table(map_table(shown), caption, file="" if away else key)
            if away:
                _draw_files(shown, caption, key, map_stem(shown, away))


def _draw_files(shown: LabelledMap, caption: str, key: str, stem: str) -> None:
    """Draw one button per format; a file is made when its button is pressed."""
    with st.container(horizontal=True):
        for kind, make in map_files(shown, caption).items():
            download_button(kind.upper(), make, f"{stem}.{kind}", TYPES[kind], key=f"{key}_{kind}")
