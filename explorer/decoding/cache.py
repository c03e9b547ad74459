"""Cache results for all sessions of a server, within limits in bytes.

A result is either small, like the translation of a sentence, or large, like the maps of an uploaded file. Small and
large results have separate limits, so that one visitor's upload does not evict the translations of a whole class.
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

from explorer.locale import language

Params = ParamSpec("Params")
Result = TypeVar("Result")
Key = tuple[Hashable, ...]

LARGE = 8_000_000  # bytes; results of at least this size count as large
SMALL_LIMIT, LARGE_LIMIT = 128_000_000, 160_000_000  # bytes of all small and all large results
_SAMPLE = 200  # items of a long list from which its size is estimated
_MISSING = object()


class ByteCache:
    """A least-recently-used cache of values by key, with at most `limit` bytes in total."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._entries: OrderedDict[Key, tuple[Any, int]] = OrderedDict()
        self._guard = threading.Lock()

    def find(self, key: Key, default: Any = None) -> Any:
        """The value of a key, or the default."""
        with self._guard:
            if key not in self._entries:
                return default
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def hold(self, key: Key, value: Any, size: int) -> None:
        """Store a value of `size` bytes; a value larger than the limit is not stored."""
        with self._guard:
            self.bytes -= self._entries.pop(key, (None, 0))[1]
            if size > self.limit:
                return
            self._entries[key] = value, size
            self.bytes += size
            while self.bytes > self.limit:
                self.bytes -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drop everything."""
        with self._guard:
            self._entries.clear()
            self.bytes = 0


_caches = (ByteCache(SMALL_LIMIT), ByteCache(LARGE_LIMIT))
_locks: WeakValueDictionary[Key, threading.Lock] = WeakValueDictionary()
_guard = threading.Lock()


def cached(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """Cache the results of a function for all sessions; simultaneous calls with equal arguments share one computation.

    The arguments are the key, except those whose name begins with an underscore, and so is the language, since a
    result may contain texts. Exceptions are not cached.
    """
    signature = inspect.signature(function)
    names = list(signature.parameters)
    keyed = [i for i, name in enumerate(names) if not name.startswith("_")]
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def wrapper(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        values: Any = args
        if kwargs or len(args) < len(names):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = list(bound.arguments.values())
        return shared((name, language.current(), *[values[i] for i in keyed]), partial(function, *args, **kwargs))

    return wrapper


def shared(key: Key, compute: Callable[[], Result]) -> Result:
    """Return the cached result under `key`, or compute and cache it; otherwise like :func:`cached`."""
    result: Any = _find(key)
    if result is _MISSING:
        with _guard:
            lock = _locks.setdefault(key, threading.Lock())
        with lock:
            result = _find(key)  # another session may have computed it meanwhile
            if result is _MISSING:
                result = compute()
                size = size_of((key, result))
                _caches[size >= LARGE].hold(key, result, size)
    return result


def clear() -> None:
    """Drop all cached results of all functions."""
    for cache in _caches:
        cache.clear()


def _find(key: Key) -> Any:
    for cache in _caches:
        if (result := cache.find(key, _MISSING)) is not _MISSING:
            return result
    return _MISSING


def size_of(value: Any) -> int:
    """Estimate the bytes that a value keeps in memory; an object that it contains several times counts once."""
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
