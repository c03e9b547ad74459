"""Positional encoding: how a model that sees all words at once knows their order."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.positions.page import draw

    draw()
