"""Attention: every head of a sentence at a glance, one head closely, and the numbers behind a single weight."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.attention.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
