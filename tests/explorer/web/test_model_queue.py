"""The queue for model calls: two at once, in order, and never a second place for one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from explorer.web import model_queue, runtime
from explorer.web.model_queue import Queue


def start(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def waiting(queue: Queue, count: int) -> None:
    """Return once this many threads wait."""
    for _ in range(1000):
        if len(queue._waiting) == count:
            return
        threading.Event().wait(0.005)
    raise AssertionError(f"{len(queue._waiting)} threads wait, not {count}")


def test_no_more_threads_than_places_and_the_first_to_wait_goes_first() -> None:
    queue, order = Queue(2), []
    queue.acquire()
    queue.acquire()

    def work(number: int) -> Callable[[], None]:
        def turn() -> None:
            queue.acquire()
            order.append(number)

        return turn

    threads = []
    for number in range(3):
        threads.append(start(work(number)))
        waiting(queue, number + 1)
    assert order == []
    for served in range(1, 4):
        queue.release()
        threads[served - 1].join(5)
        assert order == list(range(served))


def test_a_place_given_back_is_not_taken_again_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work that offers its place between two parts lets all threads that are already waiting go first."""
    queue, order = Queue(1), []
    monkeypatch.setattr(model_queue, "_queue", queue)

    def visitor() -> None:
        with model_queue.place():
            order.append("visitor")

    with model_queue.place():
        thread = start(visitor)
        waiting(queue, 1)
        with model_queue.place_offered():
            pass
        order.append("long work")
    thread.join(5)
    assert order == ["visitor", "long work"]


def test_a_thread_knows_whether_it_holds_a_place_and_gets_no_second_one() -> None:
    assert not model_queue.holds_place()
    with model_queue.place():
        assert model_queue.holds_place()
        with pytest.raises(RuntimeError, match="already"), model_queue.place():
            pass
        with model_queue.place_offered():
            assert not model_queue.holds_place()
        assert model_queue.holds_place()
    assert not model_queue.holds_place()
    with pytest.raises(RuntimeError, match="no place"), model_queue.place_offered():
        pass


def test_an_error_gives_the_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_queue, "_queue", Queue(1))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), model_queue.place():
            raise ZeroDivisionError


def test_two_of_twelve_visitors_use_a_model_at_once() -> None:
    """Every model call through the gateway waits for a place; two visitors compute in parallel."""
    inside, most, lock, both = 0, 0, threading.Lock(), threading.Barrier(2, timeout=30)

    def visitor() -> None:
        nonlocal inside, most
        with runtime.model("adjective-swap"):
            with lock:
                inside += 1
                most = max(most, inside)
            both.wait()
            with lock:
                inside -= 1

    threads = [start(visitor) for _ in range(12)]
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert most == 2


def test_a_visitor_who_waits_is_told_how_many_are_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_queue, "PATIENCE_SECONDS", 0.01)
    queue, told = Queue(1), []

    @contextmanager
    def tell(ahead: int) -> Iterator[None]:
        told.append(ahead)
        yield

    queue.acquire(tell)
    assert not told, "nobody was ahead"
    threads = []
    for number in range(3):
        threads.append(start(lambda: queue.acquire(tell)))
        waiting(queue, number + 1)
        for _ in range(1000):
            if len(told) > number:
                break
            threading.Event().wait(0.005)
    assert told == [0, 1, 2]
    for thread in threads:
        queue.release()
        thread.join(5)
    queue.release()
    assert queue._free == 1


@pytest.mark.parametrize("served", [False, True], ids=["while it waits", "as its turn comes"])
def test_a_visitor_who_asks_for_something_else_leaves_the_queue(monkeypatch: pytest.MonkeyPatch, served: bool) -> None:
    """Streamlit ends a script by an exception wherever it draws, here where it tells of the waiting."""
    monkeypatch.setattr(model_queue, "PATIENCE_SECONDS", 0.01)
    queue = Queue(1)
    queue.acquire()

    class Rerun(BaseException):
        pass

    @contextmanager
    def tell(ahead: int) -> Iterator[None]:
        del ahead
        if not served:
            raise Rerun
        queue.release()
        yield
        raise Rerun

    with pytest.raises(Rerun):
        queue.acquire(tell)
    if not served:
        queue.release()
    assert queue._free == 1
    queue.acquire()  # nobody holds it, and nobody who is gone waits for it
    assert not queue._waiting


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0, "Waiting in the queue: this one is next …"),
        (1, "Waiting in the queue: 1 computation of other visitors ahead of this one …"),
        (28, "Waiting in the queue: 28 computations of other visitors ahead of this one …"),
    ],
)
def test_what_a_visitor_who_waits_reads(ahead: int, said: str) -> None:
    assert model_queue.waiting_sentence(ahead) == said
