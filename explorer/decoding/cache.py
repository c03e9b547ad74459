"""Results that the sessions of a server share, held within limits in bytes.

A result is either small, like the translation of a sentence, or large, like the maps of an uploaded file. Each sort has
a limit of its own, so that one visitor's upload does not drop the translations of a whole class.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import partial, wraps
from itertools import islice
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

Given = ParamSpec("Given")
Result = TypeVar("Result")
Key = tuple[Hashable, ...]

LARGE = 8_000_000  # bytes from which a result counts as large
SMALL_LIMIT, LARGE_LIMIT = 128_000_000, 160_000_000  # bytes of all small and of all large results
_SAMPLE = 200  # items of a long list from which its size is estimated
_NOTHING = object()


class ByteCache:
    """Values by key within `limit` bytes in all; those that were not used for longest go first."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._held: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._guard = threading.Lock()

    def find(self, key: Key, default: Any = None) -> Any:
        """The value of a key, or the default."""
        with self._guard:
            if key not in self._held:
                return default
            self._held.move_to_end(key)
            return self._held[key][0]

    def hold(self, key: Key, value: Any, size: int) -> None:
        """Hold a value of this many bytes; one that exceeds the limit by itself is not held."""
        with self._guard:
            self.bytes -= self._held.pop(key, (None, 0))[1]
            if size > self.limit:
                return
            self._held[key] = value, size
            self.bytes += size
            while self.bytes > self.limit:
                self.bytes -= self._held.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drop everything."""
        with self._guard:
            self._held.clear()
            self.bytes = 0


_caches = (ByteCache(SMALL_LIMIT), ByteCache(LARGE_LIMIT))
_locks: WeakValueDictionary[Key, threading.Lock] = WeakValueDictionary()
_guard = threading.Lock()


def cached(make: Callable[Given, Result]) -> Callable[Given, Result]:
    """Hold the results of a function for all sessions; two that ask for the same at the same time share one call.

    Its arguments are the key, except those whose name begins with an underscore. What it raises is not held.
    """
    signature = inspect.signature(make)
    names = list(signature.parameters)
    keyed = [i for i, name in enumerate(names) if not name.startswith("_")]
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def held(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        values: Any = args
        if kwargs or len(args) < len(names):
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            values = list(given.arguments.values())
        return shared((name, *[values[i] for i in keyed]), partial(make, *args, **kwargs))

    return held


def shared(key: Key, make: Callable[[], Result]) -> Result:
    """The result under a key, or else made now and held for all sessions; as :func:`cached` in all else."""
    result: Any = _find(key)
    if result is _NOTHING:
        with _guard:
            lock = _locks.setdefault(key, threading.Lock())
        with lock:
            result = _find(key)  # another session may have made it meanwhile
            if result is _NOTHING:
                result = make()
                size = size_of((key, result))
                _caches[size >= LARGE].hold(key, result, size)
    return result


def clear() -> None:
    """Drop all results of all functions."""
    for cache in _caches:
        cache.clear()


def _find(key: Key) -> Any:
    for cache in _caches:
        if (result := cache.find(key, _NOTHING)) is not _NOTHING:
            return result
    return _NOTHING


def size_of(value: Any) -> int:
    """About how many bytes a value keeps in memory; what occurs in it several times counts once."""
    seen: set[int] = set()

    def size(part: Any) -> int:
        if isinstance(part, str | bytes | int | float | bool | None):
            return sys.getsizeof(part)
        owner = getattr(part, "base", None)
        if hasattr(owner, "nbytes"):
            return size(owner)  # a view keeps the whole array
        if id(part) in seen:
            return 0
        seen.add(id(part))
        if isinstance(nbytes := getattr(part, "nbytes", None), int):
            return nbytes + 100
        if isinstance(part, Mapping):
            return sys.getsizeof(part) + several(part.keys()) + several(part.values())
        if isinstance(part, list | tuple | set | frozenset):
            return sys.getsizeof(part) + several(part)
        return sys.getsizeof(part) + (several(vars(part).values()) if hasattr(part, "__dict__") else 0)

    def several(parts: Any) -> int:
        sizes = [size(part) for part in islice(parts, _SAMPLE)]
        return sum(sizes) * len(parts) // max(1, len(sizes))

    return size(value)
