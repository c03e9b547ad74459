"""Translate: a sentence, its translation, and every head at every step of it."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.translate.page import draw

    draw()
