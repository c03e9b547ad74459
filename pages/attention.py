"""Attention: every head of a sentence at a glance, one head closely, and the numbers behind a single weight."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.attention.page import draw

    draw()
