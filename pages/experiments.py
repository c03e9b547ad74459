"""Experiments: why the model is built and trained this way, answered by runs that anybody can repeat."""

from __future__ import annotations

from explorer.shell import ensure_shell

ensure_shell()

from explorer.experiments import draw  # noqa: E402 - nothing runs before the shell has had its say
from explorer.figures.draw import freeze_after  # noqa: E402

draw()
freeze_after("experiments")
