"""What the server does before a page runs."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from typing import Any

import pytest

from explorer.web import runtime
from explorer.web import warm_up as server
from tests import loop
from tests.paths import ROOT


def ask(middleware: server.WarmUp, path: str, kind: str = "http") -> None:
    loop.run(middleware({"type": kind, "path": path}, None, None))


@pytest.fixture
def seen() -> list[str]:
    return []


@pytest.fixture
def warm(seen: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[server.WarmUp, threading.Event]:
    """The middleware before an app that records its requests, and the event that signals the start of the imports."""
    began = threading.Event()

    def import_ahead() -> None:
        assert not began.is_set(), "began twice"
        began.set()

    async def app(scope: dict[str, Any], receive: object, send: object) -> None:
        seen.append(scope.get("path", ""))

    monkeypatch.setattr(runtime, "import_ahead", import_ahead)
    return server.WarmUp(app), began


@pytest.mark.parametrize("path", ["/", "/translate", "/attention", "/probe/"])
def test_the_first_page_with_a_model_starts_the_imports_once(warm, seen: list[str], path: str) -> None:
    middleware, began = warm
    for _ in range(3):
        ask(middleware, path)
    assert began.wait(5)
    assert seen == [path] * 3


def test_requests_that_need_no_model_start_no_imports(warm, seen: list[str]) -> None:
    middleware, began = warm
    for path in ("/_stcore/health", "/static/js/index.js", "/runs", "/train", "/attention/more"):
        ask(middleware, path)
    ask(middleware, "/", kind="websocket")
    ask(middleware, "", kind="lifespan")
    assert not began.wait(0.2)
    assert len(seen) == 7


def test_the_garbage_collector_waits_for_the_last_import() -> None:
    assert gc.isenabled()
    with runtime.quick_imports():
        with runtime.quick_imports():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_server_itself_needs_no_torch() -> None:
    """It starts before the first request for a page."""
    code = "import sys, app; print(sorted({'torch', 'spacy', 'altair'} & set(sys.modules)), type(app.app).__name__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] App"


def test_what_is_imported_ahead_is_what_a_translation_needs() -> None:
    """All heavy modules that Translate loads are imported ahead, so the page has no imports left to do."""
    code = """
import sys
from explorer.web import runtime
runtime.import_ahead()
heavy = {name.split(".")[0] for name in sys.modules}
runtime.describe("reverse")
print(sorted({name.split(".")[0] for name in sys.modules} - heavy - {"_strptime"}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
