"""A Transformer that can hand out every number it computes; notebooks start with `model.load`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.notebook import LoadedTranslator, Translation, load

__all__ = ["LoadedTranslator", "Translation", "load"]


def __getattr__(name: str) -> Any:
    """Import :mod:`model.notebook`, and PyTorch with it, on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    from model import notebook

    return getattr(notebook, name)
