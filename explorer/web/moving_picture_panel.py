"""The stepping of the head in view as a moving picture: drawn on request, then offered as files."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Translation
from explorer.files.moving_picture import MOST_STEPS, MovingFormat, drawn_steps, moving_picture
from explorer.locale.text import plain, plural

TYPES: dict[MovingFormat, tuple[str, str]] = {"gif": ("GIF", "image/gif"), "png": ("APNG", "image/apng")}
_DRAWN = "_moving_picture"


def draw(shown: Translation, at: Place) -> None:
    """A button that draws the picture while a bar shows the progress; afterwards the picture and its downloads."""
    steps = min(len(shown.trace.read_tokens), MOST_STEPS)
    drawn_for = (shown.seq, at.kind, at.layer, at.head)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Draw it", key="export_moving", help="GIF and APNG for slides; with the labels of the Translate page."
        )
        st.caption(plain(f"{at.title}: {plural(steps, 'step')}, drawn one after the other."))
    if pressed:
        bar = st.progress(0.0, "Drawing")
        images = drawn_steps(
            shown.trace, at, shown.model, lambda done, of: bar.progress(done / of, f"Drawing step {done} of {of}")
        )
        files = {kind: moving_picture(images, kind) for kind in TYPES}
        bar.empty()
        st.session_state[_DRAWN] = (drawn_for, files)
    held = st.session_state.get(_DRAWN)
    if held is None or held[0] != drawn_for:
        return
    files = held[1]
    st.image(files["gif"], width=560, alt=f"The steps of {at.title}, one after the other")
    with st.container(horizontal=True):
        for kind, (name, mime) in TYPES.items():
            size = f"{len(files[kind]) / 1000:,.0f} kB"
            file_name = f"{shown.model}-steps.{kind}"
            st.download_button(f"{name}, {size}", files[kind], file_name, mime, key=f"moving_{kind}", on_click="ignore")
