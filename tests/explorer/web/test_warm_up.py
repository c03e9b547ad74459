"""What the server does before a page runs."""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from explorer.web import warm_up as server
from model import faults
from tests import loop
from tests.paths import ROOT


def ask(middleware: server.WarmUp, path: str, kind: str = "http") -> None:
    loop.run(middleware({"type": kind, "path": path}, None, None))


Warm = tuple[server.WarmUp, threading.Event, list[str]]


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> Warm:
    """The middleware, the event that signals the start of the imports, and the paths that reach the app behind it."""
    began, seen = threading.Event(), list[str]()

    def import_ahead() -> None:
        assert not began.is_set(), "began twice"
        began.set()

    async def app(scope: dict[str, Any], receive: object, send: object) -> None:
        seen.append(scope.get("path", ""))

    monkeypatch.setattr(server, "import_ahead", import_ahead)
    monkeypatch.setattr(server, "_first_run_over", threading.Event())
    return server.WarmUp(app, later=[lambda: None]), began, seen


def test_the_frame_is_imported_once_the_server_is_up() -> None:
    order, imported = list[str](), threading.Event()

    async def app(scope: dict[str, Any], receive: object, send: Any) -> None:
        await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})

    async def send(message: dict[str, Any]) -> None:
        order.append(message["type"])

    def frame() -> None:
        order.append("frame")
        imported.set()

    loop.run(server.WarmUp(app, frame=frame)({"type": "lifespan"}, None, send))
    assert imported.wait(5)
    assert order.count("frame") == 1
    assert order[0] == "lifespan.startup.complete"


def test_what_waits_for_the_first_page_is_done_when_its_run_has_ended_even_with_an_error(
    warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    (middleware, began, _), done = warm, threading.Event()
    monkeypatch.setattr(server, "REST_SECONDS", 0.0)
    monkeypatch.setattr(server, "get_ready", lambda parts: done.set())
    ask(middleware, "/")
    assert began.wait(5)

    @server.page_run()
    def page() -> None:
        assert not gc.isenabled()
        assert not done.wait(0.05)
        raise KeyError

    with pytest.raises(KeyError):
        page()
    assert done.wait(10)
    assert gc.isenabled()
    with server.page_run():
        assert gc.isenabled(), "only the first run has so much to import"


def test_a_page_that_cannot_get_ready_keeps_no_other_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared, reported = list[str](), list[str]()

    def part(name: str) -> Callable[[], None]:
        def prepare() -> None:
            assert not gc.isenabled()
            prepared.append(name)
            assert name != "broken"

        return prepare

    monkeypatch.setattr(faults, "report", lambda fault: reported.append(type(fault).__name__))
    server.get_ready([part("first"), part("broken"), part("last")], rest=0.0)
    assert prepared == ["first", "broken", "last"]
    assert gc.isenabled()
    assert reported == ["AssertionError"]


@pytest.mark.timeout(1200)  # a whole start, on a busy machine
@pytest.mark.nightly  # a process that imports everything; only a new import breaks it
def test_what_is_made_ready_is_what_the_first_visits_need() -> None:
    """Translate has no heavy imports left to do when it runs, and Probe neither imports nor measures.

    Streamlit would import pandas, which takes a second, to look whether a component's data hold a table.
    """
    code = """
import sys
from explorer.web import runtime, warm_up
from streamlit.testing.v1 import AppTest
import app
def heavy():
    return {name.split(".")[0] for name in sys.modules}
def ours():
    return {name for name in sys.modules if name.startswith(("explorer.", "model."))}
warm_up.import_ahead()
before = heavy()
runtime.describe("reverse")
print(sorted(heavy() - before - {"_strptime"}))
page = AppTest.from_file(app.__file__, default_timeout=60).run()
print("pandas" in sys.modules, "stepper" in page.session_state, len(page.exception))
runtime.describe("multi30k-en-de")
warm_up.get_ready([app.libraries, app.attention, app.probe], rest=0.0)
from explorer.web.measurements import store
before = ours()
page.switch_page("pages/probe.py").run()
print(sorted(ours() - before), [key[0] for key in store()._results._entries], len(page.exception), len(page.dataframe))
"""
    environment = {**os.environ, "HEADLIGHT_CHECKPOINTS": str(ROOT / "checkpoints")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "False True 0", "[] ['probe'] 0 1"]
