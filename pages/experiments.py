"""Experiments: why the model is built and trained this way, answered by runs that anybody can repeat."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.experiments.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
