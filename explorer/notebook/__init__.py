"""Headlight in a notebook: `show` draws the attention of any model; `probe`, `patch` and `importance` measure heads.

`from explorer.notebook import show` or, if installed, `from headlight import show`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.files.show import Page, show
from explorer.files.tensors import AttentionError

if TYPE_CHECKING:
    from explorer.notebook.tables import importance, patch, probe

__all__ = ["AttentionError", "Page", "importance", "patch", "probe", "show"]


def __getattr__(name: str) -> Any:
    """Import what measures models, and PyTorch and pandas with it, on first use: `show` needs numpy alone."""
    if name not in __all__:
        raise AttributeError(f"module 'explorer.notebook' has no attribute {name!r}")
    from explorer.notebook import tables

    return getattr(tables, name)
