"""Viewer mode: a server for looking only, on which nobody can train, upload, rename or delete.

`HEADLIGHT_VIEWER=1` in the server's environment switches it on for all visitors. Pages say what is missing
(`explorer.web.security.closed`); whatever changes files or starts processes also refuses on its own.
"""

from __future__ import annotations

import os

from model.user_error import UserError

VARIABLE = "HEADLIGHT_VIEWER"
REASON = "this server is for looking only"
_OFF = ("", "0", "no", "off", "false")


class ViewerError(UserError):
    """An attempt to change files or start a process on a server that is for looking only."""


def viewing() -> bool:
    """Whether this server is for looking only."""
    return os.environ.get(VARIABLE, "").strip().lower() not in _OFF


def refuse(what: str) -> None:
    """Stop an action (`what`: "Uploads are") on a server that is for looking only, whatever the page offered.

    Raises:
        ViewerError: this server is for looking only.
    """
    if viewing():
        raise ViewerError(f"{what} switched off: {REASON}.")
