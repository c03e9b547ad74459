"""Attention in a notebook: `from explorer.notebook import show`; installed, `from headlight import show`."""

from __future__ import annotations

from explorer.notebook.show import Page, show
from explorer.notebook.tensors import AttentionError

__all__ = ["AttentionError", "Page", "show"]
