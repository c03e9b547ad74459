"""Runs: every run and model, what can be done with it, curves side by side, and how its heads formed."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.runs.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
