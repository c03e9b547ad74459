"""Show attention in a notebook: `from explorer.notebook import show` or, if installed, `from headlight import show`."""

from __future__ import annotations

from explorer.files.show import Page, show
from explorer.files.tensors import AttentionError

__all__ = ["AttentionError", "Page", "show"]
