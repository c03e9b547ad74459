"""A real server whose name look-ups and connections are recorded: looking at a page never calls out (M3, D3).

Every tab of every page is opened over Streamlit's own protocol, without a browser. The server's processes, those that
it starts included, write what they look up or connect to into a file.
"""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from explorer.web.faults import FAULT
from model.data import TASKS
from model.folder import SHIPPED
from tests import loop
from tests.browser import Server, progress, serve
from tests.explorer.toy_models import save_toy
from tests.paths import CHECKPOINTS
from tests.test_model_gateway import VISITS
from tests.visitor import Connection

RECORDER = """
import os, socket, sys
INTERNET = {socket.AF_INET, socket.AF_INET6}
HERE = {"localhost", "127.0.0.1", "::1", "", "None", "0.0.0.0", "::"}
def record(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"):
        host = str(given[0][0] if isinstance(given[0], tuple) else given[0])
    elif event in ("socket.bind", "socket.connect", "socket.sendto") and given[0].family in INTERNET:
        host = str(given[1][0])
    else:
        return
    number = os.open(os.environ["HEADLIGHT_TEST_CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(number, f"{'here' if host in HERE else 'away'} {event} {host}\\n".encode())
    os.close(number)
sys.addaudithook(record)
"""
# These show what only some models have, or read the sentences of a task; the other tabs are the same for every model.
BY_MODEL: dict[str, list[dict[str, str]]] = {
    "translate": [{}],
    "positions": [{"positions_tab": "Longer than trained"}],
    "probe": [{"probe_tab": "All heads", "sample": "task.3"}],
    "runs": [{}],
}
MORE: dict[str, list[dict[str, str]]] = {"train": [{}], "runs": [{}], "experiments": [{}], "lessons": [{}]}


@dataclass
class Looker(Connection):
    """One tab that goes from page to page; `said` and `code` hold the notices and the code of the last run."""

    said: list[str] = field(default_factory=list)
    code: str = ""
    boxes: dict[str, list[str]] = field(default_factory=dict)  # the id of a selectbox → its options
    fragments: dict[str, str] = field(default_factory=dict)  # the name of a component → its fragment
    elements: int = 0

    async def go(self, page: str, query: dict[str, str], fragment: str = "", **chosen: str) -> None:
        """Open a page, or run one of its fragments again; `chosen` are options of selectboxes by their keys."""
        message = BackMsg()
        run = message.rerun_script
        run.page_name = "" if page == "translate" else page
        run.query_string = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in query.items())
        run.fragment_id = fragment
        for key, option in chosen.items():
            widget = run.widget_states.widgets.add()
            widget.id, widget.string_value = next(box for box in self.boxes if box.endswith(f"-{key}")), option
        self.said, self.code, self.elements = [], "", 0
        await self.ask(message)
        progress()

    def element(self, element: Any, fragment: str) -> None:
        what = element.WhichOneof("type")
        self.elements += 1
        if what == "exception":
            raise AssertionError(element.exception.message)
        if what == "alert":
            self.said.append(element.alert.body)
        if what == "code":
            self.code += element.code.code_text
        if what == "selectbox":
            self.boxes[element.selectbox.id] = list(element.selectbox.options)
        if what == "bidi_component":
            self.fragments[element.bidi_component.component_name] = fragment


@contextmanager
def recorded(folder: Path, **environment: str) -> Iterator[tuple[Server, Path]]:
    """A server and the file of its calls."""
    (folder / "recorder").mkdir()
    (folder / "recorder" / "sitecustomize.py").write_text(RECORDER, encoding="utf-8")
    calls = folder / "calls"
    calls.touch()
    settings = {"PYTHONPATH": str(folder / "recorder"), "HEADLIGHT_TEST_CALLS": str(calls)}
    with serve(settings | environment) as server:
        yield server, calls


async def visit(port: int, visits: list[tuple[str, dict[str, str]]], *, may_train: bool) -> None:
    """One visitor to all of these pages, then to each task on Train; each draws something, and none meets a fault."""
    looker = await Looker.to(port)
    for page, query in visits:
        await looker.go(page, query)
        assert looker.elements > 3, (page, query)
        assert FAULT not in looker.said, (page, query)
    await looker.go("train", {})
    boxes = [options for box, options in looker.boxes.items() if box.endswith("-train_task")]
    assert bool(boxes) == may_train
    commands = set()
    for task in boxes[0] if may_train else ():
        await looker.go("train", {}, train_task=task)
        assert FAULT not in looker.said, task
        commands.add(looker.code)
    assert len(commands) == (len(TASKS) + 1 if may_train else 0)
    await looker.leave()


def visits_of(models: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """Every tab with the first model, and those that differ with each of the others."""
    return [
        (page, {"model": model, "entry": model} | query)
        for number, model in enumerate(models)
        for page, queries in (BY_MODEL if number else VISITS | MORE).items()
        for query in queries
    ]


def checkpoints_of(folder: Path) -> Path:
    """The shipped models, as links, so that nothing that is looked at can change them."""
    (folder / "checkpoints").mkdir()
    for name in SHIPPED:
        if (CHECKPOINTS / name).is_dir():
            (folder / "checkpoints" / name).symlink_to(CHECKPOINTS / name, target_is_directory=True)
    return folder / "checkpoints"


@pytest.mark.nightly  # tests/pages/conftest.py refuses calls from every page that those tests open
@pytest.mark.parametrize(
    ("data", "viewing"),
    [
        pytest.param(False, "", id="no corpus, everything allowed"),
        pytest.param(True, "1", id="a folder for the corpus, viewers only"),
    ],
)
def test_looking_never_calls_out(tmp_path: Path, data: bool, viewing: str) -> None:
    """All tabs with the first model, and what differs with the others."""
    environment = {"HEADLIGHT_CHECKPOINTS": str(checkpoints_of(tmp_path)), "HEADLIGHT_VIEWER": viewing}
    environment |= {"HEADLIGHT_DATA": str(tmp_path / "corpus") if data else "", "HOME": str(tmp_path)}
    (tmp_path / "corpus").mkdir()
    order = ("multi30k-en-de", *SHIPPED)  # a model that reads the corpus comes first
    with recorded(tmp_path, **environment) as (server, calls):
        loop.run(visit(server.port, visits_of(tuple(dict.fromkeys(order))), may_train=not viewing))
        assert "Traceback" not in server.output()
        lines = calls.read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("here ") for line in lines), "the recorder recorded nothing"
    assert [line for line in lines if not line.startswith("here ")] == []


def test_a_model_that_is_deleted_while_it_is_shown_gets_its_sentence_at_the_next_click(tmp_path: Path) -> None:
    """A click runs only a fragment, which would go on with a model that is no longer there (D4)."""
    checkpoints = tmp_path / "checkpoints"
    save_toy(checkpoints / "other", "reverse")

    async def click(port: int) -> None:
        query = {"model": "mine", "text": "abc"}
        looker = await Looker.to(port)
        for page, component in (("translate", "headlight_stepper"), ("attention", "headlight_heads")):
            save_toy(checkpoints / "mine", "reverse")
            await asyncio.sleep(1.1)  # the list of models is a second old at most
            await looker.go(page, query)
            assert not looker.said
            fragment = looker.fragments[component]
            shutil.rmtree(checkpoints / "mine")
            await asyncio.sleep(1.1)
            await looker.go(page, query, fragment)
            assert any("There is no model" in said for said in looker.said), (page, looker.said)
            await looker.go(page, {"model": "other", "text": "abc"})
            assert not looker.said
        await looker.leave()

    with serve({"HEADLIGHT_CHECKPOINTS": str(checkpoints)}) as server:
        loop.run(click(server.port))
        assert "Traceback" not in server.output()
