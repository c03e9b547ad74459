"""Masks: which cells of attention are closed, why, and what happens when they are not."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.masks.page import draw

    draw()
