"""Lessons: short guided tours, with questions that the models answer."""

from __future__ import annotations

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.lessons.page import draw  # noqa: E402
from explorer.web.figures import freeze_after  # noqa: E402 - nothing runs before the shell has had its say

draw()
freeze_after("lessons")
