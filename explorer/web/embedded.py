"""The app inside a frame of another page, asked for by `?embed=true`: one view, no sidebar, no controls around it."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import streamlit as st

from explorer.decoding.selection import Selection, to_query

# Streamlit's own part of embedding takes its header away; what is left is margin around the view.
_STYLE = """<style>
.stApp .stMainBlockContainer { padding: 0.25rem 0.75rem 0.5rem; }
.stApp [data-testid="stHeader"], .stApp [data-testid="stSidebarCollapsedControl"] { display: none; }
</style>"""


def is_embedded() -> bool:
    """Whether this session was opened with `embed=true` in its address."""
    return bool(st.context.is_embedded)


def style() -> None:
    """Set margins for a small frame; after :func:`explorer.web.frame.style`, which sets those of a page."""
    st.html(_STYLE)


def draw_link(shown: Selection) -> None:
    """Below the view, a link that opens the same without the frame, in a tab of its own."""
    st.caption(f"[Open in Headlight](?{urlencode(to_query(shown), quote_via=quote)})")
