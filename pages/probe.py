"""Probe: what each head does over many sentences, how sure we are, and what happens without it."""

from explorer.web.frame import ensure_shell

ensure_shell()

from explorer.screens.probe.page import draw  # noqa: E402 - the guard runs before anything else is imported

draw()
