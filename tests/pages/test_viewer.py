"""Viewer mode on every page: no control to upload, train, rename or delete; a message; refusals in the code below."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.runs.archive import import_zip
from explorer.runs.lifecycle import Runs
from explorer.runs.uploads import store
from explorer.runs.viewer_mode import VARIABLE, ViewerError, viewing
from explorer.web import runtime
from tests.explorer.toy_runs import save_run
from tests.pages.teaching import words
from tests.pages.test_every_page import PAGES
from tests.paths import ROOT

CHANGING = (
    "Start training",
    "Stop",
    "Resume",
    "New run",
    "Rename",
    "Delete",
    "Import",
    "Download and show some",
    "Make the pairs",
)


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_run(tmp_path / "mine")
    save_run(tmp_path / "halted", state="stopped")
    save_run(tmp_path / "busy", state="running")
    return tmp_path


def opened(page: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page(page).run()
    assert not at.exception
    return at


def can_change(at: AppTest) -> list[str]:
    """The controls on the page that would change something."""
    return [button.label for button in at.button if button.label in CHANGING] + [
        "an upload" for _ in at.get("file_uploader")
    ]


def files(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_no_page_offers_a_change(checkpoints: Path, page: str) -> None:
    before = files(checkpoints)
    assert can_change(opened(page, model="mine", text="abc")) == []
    assert files(checkpoints) == before


@pytest.mark.parametrize("name", ["mine", "halted", "busy"])
def test_runs_can_be_watched_but_not_changed(checkpoints: Path, name: str) -> None:
    before = files(checkpoints)
    at = opened("pages/train.py", run=name)
    assert can_change(at) == []
    assert "Stopping, resuming and new runs are switched off: this server is for looking only." in words(at)
    at = opened("pages/runs.py", entry=name)
    assert can_change(at) == []
    assert files(checkpoints) == before


def test_the_train_page_says_so(checkpoints: Path) -> None:
    assert "Training is switched off: this server is for looking only." in words(opened("pages/train.py"))


def test_the_runs_page_says_so(checkpoints: Path) -> None:
    at = opened("pages/runs.py", entry="mine")
    assert "It can be neither renamed nor deleted here: this server is for looking only." in words(at)
    at.session_state["runs_tab"] = "Import"
    assert "Importing is switched off: this server is for looking only." in words(at.run())
    assert can_change(at) == []


@pytest.mark.parametrize("panel", ["own", "export"])
def test_the_panels_of_attention_take_no_files(checkpoints: Path, panel: str) -> None:
    at = opened("pages/attention.py", model="mine", text="abc", panel=panel)
    assert can_change(at) == []


def test_the_probe_takes_sentences_and_changes_nothing(checkpoints: Path) -> None:
    at = opened("pages/probe.py", model="mine", text="abc")
    at.segmented_control(key="probe_origin_mine").set_value("own").run()
    assert not at.exception
    assert can_change(at) == []


@pytest.mark.parametrize(
    "action",
    [
        lambda runs: runs.start("new", ["python", "-m", "model.train"]),
        lambda runs: runs.resume("halted"),
        lambda runs: runs.stop("busy"),
        lambda runs: runs.watch("mine", "abc"),
        lambda runs: runs.rename("mine", "yours"),
        lambda runs: runs.delete("mine"),
    ],
    ids=["start", "resume", "stop", "watch", "rename", "delete"],
)
def test_what_no_page_offers_is_refused_too(checkpoints: Path, action: Callable[[Runs], None]) -> None:
    before = files(checkpoints)
    with pytest.raises(ViewerError, match="this server is for looking only"):
        action(Runs(checkpoints))
    assert files(checkpoints) == before


def test_files_are_refused_too(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(checkpoints)
    with pytest.raises(ViewerError, match="this server is for looking only"):
        import_zip(io.BytesIO(b"whatever"), checkpoints)
    with pytest.raises(ViewerError, match="this server is for looking only"):
        store("pairs.tsv", b"a\tb\n", checkpoints)
    assert files(checkpoints) == before
    monkeypatch.delenv(VARIABLE)
    assert store("pairs.tsv", b"a\tb\n", checkpoints).is_file()


@pytest.mark.parametrize(("value", "on"), [("1", True), ("yes", True), ("0", False), ("", False), ("off", False)])
def test_values_that_switch_it_on(monkeypatch: pytest.MonkeyPatch, value: str, on: bool) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert viewing() is on


def test_without_it_the_same_pages_offer_their_changes(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the tests above look for the right buttons."""
    monkeypatch.delenv(VARIABLE)
    shutil.rmtree(checkpoints / "busy")
    assert can_change(opened("pages/runs.py", entry="halted")) == ["Resume", "Rename", "Delete"]
    assert can_change(opened("pages/train.py", run="halted")) == ["New run", "Resume"]
    assert can_change(opened("pages/attention.py", model="mine", text="abc", panel="own")) == ["an upload"]
