"""Lessons: short guided tours, with questions that the models answer."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.lessons.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
