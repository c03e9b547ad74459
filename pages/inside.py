"""Inside the model: the whole computation, from text to prediction, with every number on the way."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.inside.page import draw

    draw()
