"""Train: a model from nothing, watched while it learns."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.train.page import draw

    draw()
