"""Viewer mode: a server for a class to look at, on which nobody can train, upload, rename or delete.

`HEADLIGHT_VIEWER=1` in the server's environment switches it on for everybody. Pages say so where something is missing;
what changes files or starts processes refuses by itself, too.
"""

from __future__ import annotations

import os

import streamlit as st

VARIABLE = "HEADLIGHT_VIEWER"
REASON = "this server is for looking only"
_OFF = ("", "0", "no", "off", "false")


class ViewerError(ValueError):
    """Something that would change files or start a process on a server that is for looking only."""


def viewing() -> bool:
    """Whether this server is for looking only."""
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF


def closed(what: str) -> bool:
    """Whether this server is for looking only; then a sentence says that `what` ("Uploads are") is switched off."""
    if not viewing():
        return False
    st.caption(f"{what} switched off: {REASON}.")
    return True


def refuse(what: str) -> None:
    """The last word on a server that is for looking only, whatever a page may have drawn.

    Raises:
        ViewerError: it is one.
    """
    if viewing():
        raise ViewerError(f"{what} switched off: {REASON}.")
