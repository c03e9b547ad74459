"""Headlight: see what an encoder-decoder Transformer looks at. Start it with `headlight` or `python -m headlight`.

In a notebook, `headlight.show` draws the attention of any model, and `headlight.probe`, `headlight.patch` and
`headlight.importance` measure the heads of Headlight's own and imported ones.

The program itself lies in the folder `_app` of this package, so that its packages `model` and `explorer` do not stand
in the way of anybody's own.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["AttentionError", "importance", "patch", "probe", "show"]

_APP = str(Path(__file__).resolve().parent / "_app")
_TOP = ("explorer", "model")
_lock = threading.RLock()
_ours: dict[str, Any] = {}  # our modules by name, while they are not in sys.modules


def __getattr__(name: str) -> Any:
    """Import one of the names of `__all__` on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'headlight' has no attribute {name!r}")
    with _our_modules():
        from explorer import notebook

        member = getattr(notebook, name)
    if isinstance(member, type):
        return member

    @functools.wraps(member)
    def call(*arguments: Any, **choices: Any) -> Any:
        with _our_modules():  # for imports inside the function
            return member(*arguments, **choices)

    return call


@contextmanager
def _our_modules() -> Iterator[None]:
    """Within the block, the names `model` and `explorer` mean our packages; outside it, those of the user."""
    with _lock:
        theirs = _taken()
        sys.modules.update(_ours)
        sys.path.insert(0, _APP)
        try:
            yield
        finally:
            sys.path.remove(_APP)
            _ours.update(_taken())
            sys.modules.update(theirs)


def _taken() -> dict[str, Any]:
    """Remove all modules below these names from `sys.modules`, and return them."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in _TOP}
