"""Results that the sessions of a server share, held within limits in bytes, and only while a session needs them.

A result is either small, like the translation of a sentence, or large, like the maps of an uploaded file. Each sort has
limits of its own, so that one visitor's upload does not drop the translations of a whole class. Who makes a result
first has its bytes counted, up to a limit for each session; whoever asks for the same afterwards shares it.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from itertools import count, islice
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

Given = ParamSpec("Given")
Result = TypeVar("Result")
Key = tuple[Hashable, ...]

LARGE = 8_000_000  # bytes from which a result counts as large
SMALL_LIMIT, LARGE_LIMIT = 128_000_000, 160_000_000  # bytes of all small and of all large results
SMALL_SHARE, LARGE_SHARE = 32_000_000, 100_000_000  # the same of one session; the largest upload needs 82 MB
SERVER = ""  # in the place of a session: what the server does by itself, which never ends
_SAMPLE = 200  # items of a long list from which its size is estimated
_NOTHING = object()
_acting: ContextVar[str | None] = ContextVar("acting", default=None)


def _server() -> str:
    return SERVER


_asking: Callable[[], str] = _server
_every: WeakSet[ByteCache] = WeakSet()


@dataclass(slots=True)
class _Held:
    """A value, its bytes, the session that they count for, all sessions that asked for it, and when one last did."""

    value: Any
    size: int
    session: str
    users: set[str]
    used: int


class ByteCache:
    """Values by key, within `limit` bytes in all and `share` bytes for what one session put in.

    A session that holds too much loses what it has not used for longest. So do all together, except that a session
    with no more than its fair part of the limit loses nothing to the others.
    """

    def __init__(self, limit: int, share: int | None = None) -> None:
        self.limit, self.share, self.bytes = limit, limit if share is None else share, 0
        self._held: dict[Key, _Held] = {}
        self._of: dict[str, OrderedDict[Key, None]] = {}  # for each session, the least recently used first
        self._bytes_of: Counter[str] = Counter()
        self._clock = count()
        self._guard = threading.Lock()
        _every.add(self)

    def find(self, key: Key, default: Any = None, session: str = SERVER) -> Any:
        """The value of a key, or the default."""
        with self._guard:
            held = self._held.get(key)
            if held is None:
                return default
            held.used = next(self._clock)
            held.users.add(session)
            self._of[held.session].move_to_end(key)
            return held.value

    def hold(self, key: Key, value: Any, size: int, session: str = SERVER) -> None:
        """Hold a value of this many bytes for a session; one that exceeds a limit by itself is not held."""
        with self._guard:
            self._drop(key)
            if size > min(self.limit, self.share):
                return
            self._held[key] = _Held(value, size, session, {session}, next(self._clock))
            self.bytes += size
            self._give(key, session)
            while self.bytes > self.limit:
                self._drop_one()

    def bytes_of(self, session: str) -> int:
        """How many bytes count for a session."""
        return self._bytes_of[session]

    def end_others(self, known: Collection[str]) -> None:
        """Drop what no known session has used; what one has used counts for it from now on."""
        with self._guard:
            stay = {*known, SERVER}
            for held in self._held.values():
                held.users &= stay
            for session in [session for session in self._of if session not in stay]:
                for key in list(self._of[session]):
                    users = self._held[key].users
                    if users:
                        self._take(key)
                        self._give(key, min(users, key=self._bytes_of.__getitem__))
                    else:
                        self._drop(key)

    def clear(self) -> None:
        """Drop everything."""
        with self._guard:
            self._held.clear()
            self._of.clear()
            self._bytes_of.clear()
            self.bytes = 0

    def _give(self, key: Key, session: str) -> None:
        """Count what is held under a key for a session, which may cost it others."""
        self._held[key].session = session
        self._of.setdefault(session, OrderedDict())[key] = None
        self._bytes_of[session] += self._held[key].size
        while self._bytes_of[session] > self.share:
            self._drop(next(iter(self._of[session])))

    def _take(self, key: Key) -> None:
        """Count it for nobody."""
        held = self._held[key]
        del self._of[held.session][key]
        self._bytes_of[held.session] -= held.size
        if not self._of[held.session]:
            del self._of[held.session], self._bytes_of[held.session]

    def _drop_one(self) -> None:
        """Drop the least recently used of what sessions hold beyond their fair part."""
        fair = self.limit / len(self._of)
        oldest = (next(iter(keys)) for session, keys in self._of.items() if self._bytes_of[session] > fair)
        self._drop(min(oldest, key=lambda key: self._held[key].used))

    def _drop(self, key: Key) -> None:
        if key in self._held:
            self._take(key)
            self.bytes -= self._held.pop(key).size


_caches = (ByteCache(SMALL_LIMIT, SMALL_SHARE), ByteCache(LARGE_LIMIT, LARGE_SHARE))
_locks: dict[Key, threading.Lock] = {}
_users: Counter[Key] = Counter()
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
        key = (name, *[values[i] for i in keyed])
        session = asking()
        found = _find(key, session)
        if found is _NOTHING:
            with _making(key):
                found = _find(key, session)  # another session may have made it meanwhile
                if found is _NOTHING:
                    found = make(*args, **kwargs)
                    size = size_of((key, found))
                    _caches[size >= LARGE].hold(key, found, size, session)
        result: Result = found
        return result

    return held


def asking() -> str:
    """The session that this thread works for."""
    session = _acting.get()
    return _asking() if session is None else session


def ask_with(session: Callable[[], str]) -> None:
    """Have `session` say which session a thread works for."""
    global _asking
    _asking = session


@contextmanager
def working_for(session: str) -> Iterator[None]:
    """Count what this thread puts in for a session; for threads of which nobody else knows whom they work for."""
    token = _acting.set(session)
    try:
        yield
    finally:
        _acting.reset(token)


def end_others(known: Collection[str]) -> None:
    """Drop, from all caches, what was used only by sessions that exist no more."""
    for cache in list(_every):
        cache.end_others(known)


def clear() -> None:
    """Drop all results of all functions."""
    for cache in _caches:
        cache.clear()


def _find(key: Key, session: str) -> Any:
    for cache in _caches:
        if (found := cache.find(key, _NOTHING, session)) is not _NOTHING:
            return found
    return _NOTHING


@contextmanager
def _making(key: Key) -> Iterator[None]:
    """One thread at a time for each key."""
    with _guard:
        lock = _locks.setdefault(key, threading.Lock())
        _users[key] += 1
    try:
        with lock:
            yield
    finally:
        with _guard:
            _users[key] -= 1
            if not _users[key]:
                del _locks[key], _users[key]


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
