"""Attention: every head of a sentence at a glance, one head closely, and the numbers behind a single weight."""

from __future__ import annotations

from explorer.web.frame import ensure_shell

ensure_shell()

import streamlit as st  # noqa: E402 - nothing runs before the shell has had its say

from explorer.screens.attention import panels as attention_panels  # noqa: E402
from explorer.text import plain  # noqa: E402
from explorer.web import session  # noqa: E402
from explorer.web.attention_views import draw_heads  # noqa: E402
from explorer.web.figures import freeze_after  # noqa: E402
from explorer.web.open_translation import Opened, opened  # noqa: E402


def draw() -> None:
    """The whole page."""
    found = opened()
    if found is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"#### {plain(found.shown.text) or '(nothing: the model ended at once)'}")
        if found.selection.path is not None:
            st.badge("a chosen path", color="orange")
    note = "Which words does each head look at? A weight says where something was read, not why the model decided so."
    st.caption(plain(" ".join([note, *found.shown.notes])))
    attention_panels.arrive()
    _explore(found)


@st.fragment
def _explore(found: Opened) -> None:
    """The views and the panel below them; their messages run only this part of the page again."""
    attention_panels.follow()
    result = draw_heads(found, key="heads", explains=True)
    panel = attention_panels.choose("cell" if result.explain else None)
    attention_panels.draw(panel, found.address, found.shown, result.place)
    session.write_address(found.address)  # last, because panels have choices of their own
    freeze_after(f"attention {panel}")


draw()
