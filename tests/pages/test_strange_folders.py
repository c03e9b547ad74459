"""Strange model folders on the pages, with a healthy model beside them: no error, and its page is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run
from tests.fuzz.inputs import _TIMES
from tests.fuzz.strange_folders import Strange, replaced, strange_files
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


@pytest.mark.parametrize("page", PAGES)
def test_a_giant_value_adds_little_to_a_page(checkpoints: Path, page: str) -> None:
    """Finding D32: 20 MB in one field of config.json put 20 to 40 MB on everybody's pages."""
    path = checkpoints / "odd" / "config.json"
    whole = json.loads(path.read_bytes())
    before = length(visit(page, "healthy"))
    for way in (("model", "d_model"), ("title",), ("data", "task"), ("training", "seed")):
        for filler in ("x" * 20_000_000, "ab " * 300_000, "\u202e" * 300_000):
            path.write_text(json.dumps(replaced(whole | {"title": "t"}, way, filler)), encoding="utf-8")
            runtime.models_changed()
            assert length(visit(page, "healthy")) - before < 2000, (way, filler[:2])
            assert length(visit(page, "odd")) - before < 20_000, (way, filler[:2])


def length(at: AppTest) -> int:
    """The number of bytes of all that the page sends."""
    assert not at.exception
    elements = [element for block in (at.main, at.sidebar) for element in block]
    return sum(element.proto.ByteSize() for element in elements if element.proto is not None)
