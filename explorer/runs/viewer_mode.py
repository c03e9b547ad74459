"""Viewer mode: a read-only server, on which nobody can train, upload, rename or delete.

`HEADLIGHT_VIEWER=1` in the server's environment switches it on for all visitors. Pages say what is missing
(`explorer.web.security.closed`); functions that change files or start processes also refuse by themselves.
"""

from __future__ import annotations

import os

from explorer.locale.messages import message
from model.user_error import UserError

VARIABLE = "HEADLIGHT_VIEWER"
REASON = message("this server is for looking only")
_OFF = ("", "0", "no", "off", "false")


class ViewerError(UserError):
    """An attempt to change files or start a process on a read-only server."""


def viewing() -> bool:
    """Whether this server is read-only."""
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF


def refuse(sentence: str) -> None:
    """Refuse an action on a read-only server, with this sentence, even if the page offered it.

    Raises:
        ViewerError: this server is read-only.
    """
    if viewing():
        raise ViewerError(sentence)
