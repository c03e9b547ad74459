"""Viewer mode on every page: no control to upload, train, rename or delete; a message; refusals in the code below."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.probing.sample import SampleChoice, to_link
from explorer.runs.archive import import_translator, import_zip
from explorer.runs.lifecycle import Runs
from explorer.runs.uploads import store
from explorer.runs.viewer_mode import VARIABLE, ViewerError, viewing
from tests.explorer.toy_runs import save_run
from tests.pages.page import PAGES, visit, words
from tests.some import some

CHANGING = {"Start training", "Stop", "Resume", "New run", "Rename", "Delete", "Import"}
CHANGING |= {"Download and show some"}
# Pages as opened by a link, what they say of viewer mode, and the changes that they offer without it.
OFFERS = [
    *some([(page, {}, "", None) for page in PAGES], 6),
    ("train", {}, "Training is switched off: this server is for looking only.", ["Start training"]),
    ("train", {"run": "halted"}, "Stopping, resuming and new runs are switched off", ["New run", "Resume"]),
    ("train", {"run": "busy"}, "Stopping, resuming and new runs are switched off", ["Stop"]),
    (
        "runs",
        {"entry": "halted"},
        "Importing is switched off: this server is for looking only.",
        ["Import", "Resume", "Rename", "Delete", "an upload"],
    ),
    ("runs", {}, "Importing is switched off: this server is for looking only.", ["Import", "an upload"]),
    ("attention", {"panel": "own"}, "", ["an upload"]),
    ("attention", {"panel": "export"}, "", ["an upload"]),
    ("probe", {"sample": to_link(SampleChoice("own", ("abc",)))}, "", None),
]


@pytest.fixture(autouse=True)
def _runs(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    for name, state in (("mine", "finished"), ("halted", "stopped"), ("busy", "running")):
        save_run(checkpoints / name, state=state)


def can_change(at: AppTest) -> list[str]:
    uploads = ["an upload" for _ in at.get("file_uploader")]
    return [button.label for button in at.button if button.label in CHANGING] + uploads


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("page", "query", "sentence", "otherwise"), OFFERS)
def test_no_page_offers_a_change(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str, query: dict[str, str], sentence: str, otherwise: Any
) -> None:
    before, link = files(checkpoints), {"model": "mine", "text": "abc", "sample": "task.3"} | query
    at = visit(page, **link)
    assert can_change(at) == []
    assert sentence in words(at)
    assert files(checkpoints) == before
    if otherwise is not None:  # shows that the test looks for the right controls
        monkeypatch.delenv(VARIABLE)
        if query.get("run") != "busy":
            shutil.rmtree(checkpoints / "busy")
        assert set(otherwise) <= set(can_change(visit(page, **link)))


REFUSED: dict[str, Callable[[Runs], object]] = {
    "start": lambda runs: runs.start("new", ["python", "-m", "model.train"]),
    "resume": lambda runs: runs.resume("halted"),
    "stop": lambda runs: runs.stop("busy"),
    "watch": lambda runs: runs.watch("mine", "abc"),
    "rename": lambda runs: runs.rename("mine", "yours"),
    "delete": lambda runs: runs.delete("mine"),
    "import": lambda runs: import_zip(io.BytesIO(b"whatever"), runs.checkpoints),
    "translator": lambda runs: import_translator(Path("whatever"), runs.checkpoints),
    "upload": lambda runs: store("pairs.tsv", b"a\tb\n", runs.checkpoints),
}


@pytest.mark.parametrize("action", REFUSED)
def test_what_no_page_offers_is_refused_too(checkpoints: Path, monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    before = files(checkpoints)
    with pytest.raises(ViewerError, match="this server is for looking only"):
        REFUSED[action](Runs(checkpoints))
    assert files(checkpoints) == before
    if action == "upload":
        monkeypatch.delenv(VARIABLE)
        assert store("pairs.tsv", b"a\tb\n", checkpoints).is_file()


@pytest.mark.parametrize(("value", "on"), [("1", True), ("yes", True), ("0", False), ("", False), ("off", False)])
def test_values_that_switch_it_on(monkeypatch: pytest.MonkeyPatch, value: str, on: bool) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert viewing() is on
