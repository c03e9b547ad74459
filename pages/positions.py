"""Positional encoding: how a model that sees all words at once knows their order."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.positions.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
