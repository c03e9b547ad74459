"""The stepping of the head in view as a moving picture: drawn on request, then offered as a file."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Translation
from explorer.files.moving_picture import MOST_STEPS, drawn_steps, moving_picture
from explorer.locale.text import plain, plural

_DRAWN = "_moving_picture"


def draw(shown: Translation, at: Place) -> None:
    """A button that draws the picture while a bar shows the progress; afterwards the picture and its download."""
    steps = min(len(shown.trace.read_tokens), MOST_STEPS)
    drawn_for = (shown.seq, at.kind, at.layer, at.head)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Draw it", key="export_moving", help="A GIF for slides, with the labels of the Translate page."
        )
        st.caption(plain(f"{at.title}: {plural(steps, 'step')}, drawn one after the other."))
    if pressed:
        bar = st.progress(0.0, "Drawing")
        images = drawn_steps(
            shown.trace, at, shown.model, lambda done, of: bar.progress(done / of, f"Drawing step {done} of {of}")
        )
        content = moving_picture(images)
        bar.empty()
        st.session_state[_DRAWN] = (drawn_for, content)
    held = st.session_state.get(_DRAWN)
    if held is None or held[0] != drawn_for:
        return
    content = held[1]
    st.image(content, width=560, alt=f"The steps of {at.title}, one after the other")
    label, name = f"GIF, {len(content) / 1000:,.0f} kB", f"{shown.model}-steps.gif"
    st.download_button(label, content, name, "image/gif", key="moving_gif", on_click="ignore")
