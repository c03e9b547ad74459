"""Train: train a model from scratch, and watch it learn."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.train.page import draw

    draw()
