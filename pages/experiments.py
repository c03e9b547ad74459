"""Experiments: why the model is built and trained this way, answered by runs that anybody can repeat."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.experiments.page import draw

    draw()
