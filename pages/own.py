"""Attention of another model: a file of its weights, in the views of the Attention page."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.own.page import draw

    draw()
