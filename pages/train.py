"""Train: a model from nothing, watched while it learns."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.train.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
