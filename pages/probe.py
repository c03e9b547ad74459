"""Probe: what each head does over many sentences, how sure we are, and what happens without it."""

from explorer.web.frame import in_shell

if in_shell():
    from explorer.screens.probe.page import draw

    draw()
