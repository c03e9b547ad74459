"""Lessons: short guided tours, with questions that the models answer."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

from explorer.figures.draw import freeze_after  # noqa: E402 - nothing runs before the shell has had its say
from explorer.lessons_page import draw  # noqa: E402

draw()
freeze_after("lessons")
