"""Runs: every run and model, what can be done with it, curves side by side, and how its heads formed."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.runs.page import draw

    draw()
