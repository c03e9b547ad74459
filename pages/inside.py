"""Inside the model: the whole computation, from text to prediction, with every number on the way."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.inside.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
