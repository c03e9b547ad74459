"""Pages run without the processes that they would start."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from explorer.runs import dry_run


@pytest.fixture(scope="module", autouse=True)
def _no_estimates() -> Iterator[None]:
    """The Train page estimates a run in a separate process, which would outlive its test."""

    def refuse(command: Sequence[str], wanted: object) -> dry_run.Plan:
        raise dry_run.PlanError("No estimate in this test.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dry_run, "run_trial", refuse)
        yield


_calls: list[str] = []


@cache
def _listen() -> None:
    """Record name look-ups and connections of this process from now on; Python cannot take back an audit hook."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1", "::1"):
            _calls.append(f"{event} {arguments[0]}")
        if event == "socket.connect" and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
            host = arguments[1][0]
            if host not in ("localhost", "127.0.0.1", "::1"):
                _calls.append(f"{event} {host}")

    sys.addaudithook(hook)


@pytest.fixture(autouse=True)
def _looking_never_calls_out() -> Iterator[None]:
    """No page speaks to another host, nor asks for the address of one (findings M3 and D3)."""
    _listen()
    _calls.clear()
    yield
    assert _calls == [], "a page called out"
