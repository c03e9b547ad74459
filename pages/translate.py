"""Translate: a sentence, its translation, and every head at every step of it."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.translate.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
