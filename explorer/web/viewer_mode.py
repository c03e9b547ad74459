"""What a page shows in viewer mode, in place of a control that would change something."""

from __future__ import annotations

import streamlit as st

from explorer.runs.viewer_mode import REASON, viewing


def closed(what: str) -> bool:
    """Whether this server is for looking only; if so, a sentence says that `what` ("Uploads are") is switched off."""
    if not viewing():
        return False
    st.caption(f"{what} switched off: {REASON}.")
    return True
