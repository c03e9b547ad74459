"""The queue for model calls: two at once, in order, and never a second place for one thread."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from explorer.web import model_queue
from explorer.web.model_queue import Queue
from tests.waiting import until


def start(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_place_given_back_is_not_taken_again_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work that offers its place between two parts lets all threads that are already waiting go first."""
    queue, order = Queue(1), []
    monkeypatch.setattr(model_queue, "_queue", queue)

    def visitor() -> None:
        with model_queue.place():
            order.append("visitor")

    with model_queue.place():
        thread = start(visitor)
        until(lambda: len(queue._waiting) == 1)
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


def test_a_visitor_who_waits_is_told_how_many_are_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_queue, "PATIENCE_SECONDS", 0.01)
    queue, told = Queue(1), list[int]()

    @contextmanager
    def tell(ahead: int) -> Iterator[None]:
        told.append(ahead)
        yield

    queue.acquire(tell)
    assert not told, "nobody was ahead"
    threads = []
    for _ in range(3):
        threads.append(start(partial(queue.acquire, tell)))
        until(lambda: len(told) == len(threads))
    assert told == [0, 1, 2]
    for thread in threads:
        queue.release()
        thread.join(5)
    queue.release()
    assert queue._free == 1
    sentences = [model_queue.waiting_sentence(ahead) for ahead in (0, 1, 28)]
    assert [re.findall(r"next|\d+ computations?", said) for said in sentences] == [
        ["next"], ["1 computation"], ["28 computations"],
    ]  # fmt: skip


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
