"""Strange model folders on the pages, with a healthy model beside them: no error, and its page is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run
from tests.fuzz.inputs import _TIMES
from tests.fuzz.strange_folders import Strange, strange_files
from tests.pages.test_every_page import opened

PAGES = ("pages/translate.py", "pages/runs.py", "pages/train.py", "pages/inside.py")
VISITS = 4 * _TIMES  # of each page


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_run(tmp_path / "odd", steps=(10, 30))
    save_toy(tmp_path / "healthy", "reverse")
    runtime.models_changed()
    return tmp_path


def visit(page: str, name: str) -> AppTest:
    return opened(page, model=name, run=name, entry=name, text="abc")


def change(folder: Path, strange: Strange) -> None:
    if strange.content is None:
        (folder / strange.file).unlink()
    else:
        (folder / strange.file).write_bytes(strange.content)
    runtime.models_changed()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_of_a_strange_folder(checkpoints: Path, page: str) -> None:
    odd = checkpoints / "odd"
    for strange in strange_files(odd, seed=PAGES.index(page))[:VISITS]:
        whole = (odd / strange.file).read_bytes()
        change(odd, strange)
        at = visit(page, "odd")
        assert not at.exception, f"{strange.file}: {strange.what}"
        (odd / strange.file).write_bytes(whole)


def test_the_pages_of_the_healthy_model_are_what_they_were(checkpoints: Path) -> None:
    odd = checkpoints / "odd"
    before = seen(visit("pages/translate.py", "healthy"))
    for strange in strange_files(odd, seed=9)[: 2 * VISITS]:
        whole = (odd / strange.file).read_bytes()
        change(odd, strange)
        assert seen(visit("pages/translate.py", "healthy")) == before, f"{strange.file}: {strange.what}"
        (odd / strange.file).write_bytes(whole)


def seen(at: AppTest) -> list[tuple[str, str]]:
    """The kind and content of everything in the main part of the page."""
    assert not at.exception
    assert at.selectbox(key="model").value == "healthy"
    return [(element.type, str(getattr(element, "value", ""))) for element in at.main]
