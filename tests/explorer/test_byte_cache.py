"""Results held within a limit in bytes: what is dropped, what is shared, and how sizes are estimated."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import byte_cache
from explorer.byte_cache import ByteCache, cached, size_of


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(byte_cache, "_caches", (ByteCache(20_000), ByteCache(100_000, 100_000)))
    monkeypatch.setattr(byte_cache, "LARGE", 10_000)
    yield
    assert not byte_cache._locks
    assert not +byte_cache._users


def test_the_least_recently_used_is_dropped_first() -> None:
    cache = ByteCache(100)
    for name in "abc":
        cache.hold((name,), name, 33)
    assert cache.find(("a",)) == "a"
    cache.hold(("d",), "d", 33)
    assert [cache.find((name,)) for name in "abcd"] == ["a", None, "c", "d"]
    assert cache.bytes == 99


def test_what_exceeds_the_limit_by_itself_drops_nothing_else() -> None:
    cache = ByteCache(100)
    cache.hold(("a",), "a", 50)
    cache.hold(("b",), "b", 101)
    assert (cache.find(("a",)), cache.find(("b",))) == ("a", None)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=60))
def test_the_limit_holds_whatever_comes(steps: list[tuple[int, int]]) -> None:
    cache, held = ByteCache(100), {}
    for name, size in steps:
        cache.hold((name,), size, size)
        held[name] = size
        assert cache.bytes <= 100
        assert cache.bytes == sum(cache.find((name,), 0) for name in held)


def test_large_results_do_not_drop_small_ones() -> None:
    calls: list[int] = []

    @cached
    def make(number: int) -> np.ndarray:
        calls.append(number)
        return np.zeros(number, np.uint8)

    small = make(10)
    for size in range(50_000, 60_000, 1000):
        make(size)
    assert make(10) is small
    assert calls.count(10) == 1
    make(50_000)
    assert calls.count(50_000) == 2  # dropped by the other large ones


def test_one_session_loses_its_own_and_nobody_elses() -> None:
    cache = ByteCache(1000, share=400)
    for n in range(5):
        cache.hold((f"class {n}",), n, 60, f"pupil {n}")
    for n in range(100):
        cache.hold((f"robot {n}",), n, 100, "robot")
    assert [cache.find((f"class {n}",)) for n in range(5)] == [0, 1, 2, 3, 4]
    assert [n for n in range(100) if cache.find((f"robot {n}",)) is not None] == [96, 97, 98, 99]
    assert cache.bytes_of("robot") == 400
    cache.hold(("too much",), 0, 401, "robot")
    assert cache.find(("too much",)) is None
    assert cache.bytes_of("robot") == 400


def test_of_many_those_lose_who_hold_more_than_their_part() -> None:
    cache = ByteCache(1000, share=400)
    cache.hold(("old",), 0, 90, "one")
    for name in ("two", "three", "four"):
        for n in range(3):
            cache.hold((name, n), n, 100, name)
    assert cache.find(("two", 0), "dropped") == 0
    cache.hold(("new",), 0, 110, "five")  # 1,100 in all; a fifth of the limit is 200
    held = [(name, n) for name in ("two", "three", "four") for n in range(3) if cache.find((name, n)) is not None]
    assert held == [("two", 0), ("two", 2), ("three", 0), ("three", 1), ("three", 2), *(("four", n) for n in range(3))]
    assert cache.find(("old",)) == cache.find(("new",)) == 0


@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from("abcd"), st.integers(0, 60), st.booleans()), max_size=60),
    st.integers(20, 100),
)
def test_every_limit_holds_and_every_byte_counts_for_somebody(
    steps: list[tuple[int, str, int, bool]], share: int
) -> None:
    cache = ByteCache(100, share)
    for name, session, size, looks in steps:
        if size == 60:
            cache.end_others([session])
            assert set(cache._of) <= {session}
        elif looks:
            cache.find((name,), session=session)
        else:
            cache.hold((name,), size, size, session)
        counted = {who: cache.bytes_of(who) for who in cache._of}
        assert cache.bytes == sum(counted.values()) <= 100
        assert max(counted.values(), default=0) <= share
        assert sum(held.size for held in cache._held.values()) == cache.bytes
        assert {key for keys in cache._of.values() for key in keys} == set(cache._held)


def test_what_only_ended_sessions_used_is_dropped_and_the_rest_counts_for_who_is_here() -> None:
    cache = ByteCache(1000, share=400)
    cache.hold(("own",), "own", 100, "gone")
    cache.hold(("shared",), "shared", 150, "gone")
    cache.hold(("server's",), "server's", 50)
    assert cache.find(("shared",), session="here") == "shared"
    cache.end_others(["here"])
    assert (cache.find(("own",)), cache.find(("shared",)), cache.find(("server's",))) == (None, "shared", "server's")
    assert (cache.bytes_of("gone"), cache.bytes_of("here"), cache.bytes) == (0, 150, 200)
    cache.end_others([])
    assert cache.find(("server's",)) == "server's"
    assert cache.find(("shared",)) == "shared"  # asked for above by the server itself
    assert "gone" not in cache._of


def test_a_session_pays_for_what_it_makes_and_others_share_it() -> None:
    calls: list[str] = []

    @cached
    def make(name: str) -> str:
        calls.append(byte_cache.asking())
        return name * 100

    small = byte_cache._caches[0]
    with byte_cache.working_for("teacher"):
        make("x")
    paid = small.bytes_of("teacher")
    assert paid > 100
    with byte_cache.working_for("pupil"):
        make("x")
    assert calls == ["teacher"]
    assert (small.bytes_of("teacher"), small.bytes_of("pupil")) == (paid, 0)
    byte_cache.end_others(["pupil"])
    assert (small.bytes_of("teacher"), small.bytes_of("pupil")) == (0, paid)
    byte_cache.end_others(["somebody else"])
    assert small.bytes == 0
    make("x")
    assert calls == ["teacher", byte_cache.SERVER]


def test_what_is_asked_for_counts_as_well() -> None:
    @cached
    def length(text: str) -> int:
        return len(text)

    length("x" * 5000)
    assert byte_cache._caches[0].bytes > 5000


def test_arguments_with_an_underscore_are_no_part_of_the_key() -> None:
    @cached
    def join(left: str, _right: str, *, end: str = ".") -> str:
        return left + _right + end

    assert join("a", "b") == "ab."
    assert join("a", "c") == "ab."
    assert join("a", "c", end="!") == "ac!"
    assert join("a", _right="c", end=".") == "ab."


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

    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(make("x"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert began.wait(5)
    go.set()
    for thread in threads:
        thread.join(5)
    assert answers == ["xx"] * 5
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
