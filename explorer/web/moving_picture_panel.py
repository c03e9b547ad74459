"""The stepping of the head in view as a moving picture: drawn on request, then offered as a file."""

from __future__ import annotations

import streamlit as st

from explorer.decoding.coordinates import Place
from explorer.decoding.translator import Translation
from explorer.decoding.view_options import parse_view
from explorer.files.moving_picture import MOST_STEPS, drawn_steps, moving_picture
from explorer.files.picture_drawing import missing_note
from explorer.locale.messages import t
from explorer.locale.text import plain
from explorer.web import session

_DRAWN = "_moving_picture"


def draw(translation: Translation, at: Place) -> None:
    """Draw the button that makes the picture behind a progress bar; afterwards the picture and its download."""
    steps = min(len(translation.trace.read_tokens), MOST_STEPS)
    direction = parse_view(session.selection().view).direction
    drawn_for = (translation.seq, at.kind, at.layer, at.head, direction)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            t("Draw it"),
            key="export_moving",
            help=t("A GIF for slides, with the labels of the Translate page."),
        )
        caption = t("{head}: {n} step.", "{head}: {n:,} steps, drawn one after the other.", head=at.title, n=steps)
        st.caption(plain(caption))
    if pressed:
        bar = st.progress(0.0, t("Drawing"))
        images = drawn_steps(
            translation.trace,
            at,
            translation.model,
            lambda done, of: bar.progress(done / of, t("Drawing step {done} of {n}", done=done, n=of)),
            n_prompt=translation.n_prompt,
            direction=direction,
        )
        content = moving_picture(images)
        bar.empty()
        st.session_state[_DRAWN] = (drawn_for, content)
    made_for, content = st.session_state.get(_DRAWN, (None, b""))
    if made_for != drawn_for:
        return
    st.image(content, width=560, alt=t("The steps of {head}, one after the other", head=at.title))
    label, name = t("GIF, {size:,.0f} kB", size=len(content) / 1000), f"{translation.model}-steps.gif"
    trace = translation.trace
    if note := missing_note((*trace.src_tokens, *trace.read_tokens, *trace.predicted_tokens)):
        st.caption(plain(note))
    st.download_button(label, content, name, "image/gif", key="moving_gif", on_click="ignore")
