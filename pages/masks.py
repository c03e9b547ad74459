"""Masks: which cells of attention are closed, why, and what happens when they are not."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.masks.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
