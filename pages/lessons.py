"""Lessons: short guided tours, with questions that the models answer."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.lessons.page import draw

    draw()
