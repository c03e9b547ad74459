"""The one limit for uploads: what the server accepts, whatever a page would like to."""

from __future__ import annotations

import streamlit as st


def megabytes(wanted: int) -> int:
    """The largest upload, in megabytes, that a field may promise: at most what `server.maxUploadSize` allows.

    The server refuses a larger file with a bare HTTP error, so the field has to refuse it before, in a sentence.
    """
    return min(wanted, int(st.get_option("server.maxUploadSize")))
