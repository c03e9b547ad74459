"""A Transformer that can hand out every number it computes; `model.load` is the way in from a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.notebook import LoadedTranslator, Translation, load

__all__ = ["LoadedTranslator", "Translation", "load"]


def __getattr__(name: str) -> Any:
    """Import PyTorch and all that follows only when something of it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    from model import notebook

    return getattr(notebook, name)
