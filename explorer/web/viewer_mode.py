"""What a page shows in viewer mode instead of a control that would change something."""

from __future__ import annotations

import streamlit as st

from explorer.runs.viewer_mode import REASON, viewing


def closed(what: str) -> bool:
    """Whether this server is in viewer mode; if so, say on the page that `what` ("Uploads are") is switched off."""
    if not viewing():
        return False
    st.caption(f"{what} switched off: {REASON}.")
    return True
