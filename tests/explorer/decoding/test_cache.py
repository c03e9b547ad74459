"""Results held within a limit in bytes: what is dropped, what is shared, and how sizes are estimated."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from explorer.decoding import cache as results
from explorer.decoding.cache import ByteCache, cached, size_of


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(results, "_caches", (ByteCache(20_000), ByteCache(100_000)))
    monkeypatch.setattr(results, "LARGE", 10_000)
    yield
    assert not results._locks


def test_the_least_recently_used_is_dropped_first() -> None:
    cache = ByteCache(100)
    for name in "abc":
        cache.hold((name,), name, 33)
    assert cache.find(("a",)) == "a"
    cache.hold(("d",), "d", 33)
    cache.hold(("e",), "e", 101)  # more than the limit by itself: nothing is dropped for it
    assert [cache.find((name,)) for name in "abcde"] == ["a", None, "c", "d", None]
    assert cache.bytes == 99


def test_arguments_are_the_key_and_count_except_those_with_an_underscore() -> None:
    @cached
    def join(left: str, _right: str, *, end: str = ".") -> str:
        return left + _right + end

    assert join("a", "b") == join("a", "c") == join("a", _right="c", end=".") == "ab."
    assert join("a", "c", end="!") == "ac!"
    cached(len)("x" * 5000)
    assert results._caches[0].bytes > 5000


def test_two_that_ask_at_the_same_time_share_one_call_and_a_failure_is_not_held() -> None:
    began, go = threading.Event(), threading.Event()
    calls: list[str] = []

    @cached
    def make(name: str) -> str:
        calls.append(name)
        if name == "bad":
            raise ValueError(name)
        began.set()
        assert go.wait(5)
        return name * 2

    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(make, "x") for _ in range(5)]
        assert began.wait(5)
        go.set()
    assert [answer.result() for answer in answers] == ["xx"] * 5
    assert calls == ["x"]
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            make("bad")
    assert calls.count("bad") == 2


def test_sizes_count_arrays_once_and_views_as_the_whole() -> None:
    @dataclass
    class Pair:
        one: np.ndarray
        other: np.ndarray

    array = np.zeros(10_000, np.float32)
    whole = size_of(array)
    assert 40_000 <= whole < 41_000
    assert size_of(array[:10]) == whole
    assert whole <= size_of(Pair(array, array[:5])) < whole + 1000
    assert size_of([["ab"] * 1000] * 3) < size_of([[f"{i}" * 100 for i in range(1000)]])
    assert size_of({"a": b"x" * 5000}) > 5000
    loop: list[object] = []
    loop.append(loop)
    assert size_of(loop) > 0
