"""A model folder that is deleted, or has times in the future, while a page shows it: a message, on every page."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.toy_runs import save_run, write_status
from tests.pages.teaching import assert_shows_something, words
from tests.pages.test_every_page import PAGES
from tests.paths import ROOT


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_run(tmp_path / "mine")
    return tmp_path


def opened(page: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"model": "mine", "run": "mine", "entry": "mine", "text": "abc"}.items():
        at.query_params[name] = value
    return at.switch_page(page).run()


@pytest.mark.parametrize("listed", [True, False], ids=["still listed", "not listed any more"])
@pytest.mark.parametrize("others", [True, False], ids=["another is left", "none is left"])
@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_the_folder_is_deleted_while_it_is_shown(checkpoints: Path, page: str, others: bool, listed: bool) -> None:
    if others:
        save_run(checkpoints / "other")
    at = opened(page)
    assert not at.exception
    shutil.rmtree(checkpoints / "mine")
    if not listed:
        runtime._summaries.clear()
    at.run()
    if page == "pages/lessons.py":  # a list of lessons, each with its button
        assert not at.exception
        assert [button.label for button in at.main.button if button.label == "Start"]
    else:
        assert_shows_something(at)
    assert {path.name for path in checkpoints.iterdir()} == ({"other"} if others else set())


@pytest.mark.parametrize("page", ["pages/train.py", "pages/runs.py"])
@pytest.mark.parametrize("state", ["running", "finished"])
def test_times_of_the_future(checkpoints: Path, page: str, state: str) -> None:
    write_status(checkpoints / "mine", state, updated=time.time() + 1e6, eta_s=-60.0)
    at = opened(page)
    assert not at.exception
    assert "-1" not in words(at)
    assert " ago" not in words(at) or "just now" in words(at)
