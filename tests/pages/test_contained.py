"""What goes wrong in one part of a page, or in one model folder, stays there: a sentence, a way on, one traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import model.folder
from explorer.locale.text import plain
from explorer.screens.attention import compare
from explorer.screens.masks import page as masks
from explorer.web import model_list, runtime, session
from explorer.web.faults import FAULT, NOT_DONE
from model import faults
from model.folder import UNFORESEEN, CheckpointError
from tests.explorer.toy_runs import save_run
from tests.pages.teaching import assert_shows_something, words
from tests.pages.test_every_page import PAGES, opened


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    save_run(tmp_path / "mine")
    return tmp_path


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are logged, as on a server, instead of ending the test."""
    monkeypatch.setattr(faults, "_logged", set())
    monkeypatch.setattr(faults, "report", REPORT)


REPORT = faults.report  # before the fixture of all tests replaces it


def fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("unforeseen")


def tracebacks(caplog: pytest.LogCaptureFixture) -> int:
    return sum(record.name == "headlight" and record.exc_info is not None for record in caplog.records)


@pytest.mark.usefixtures("checkpoints", "logged")
def test_a_page_that_meets_the_unforeseen_says_so_and_works_the_next_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(masks, "draw", fail)
        at = opened("pages/masks.py", model="mine", text="abc")
        at.run()
        assert not at.exception
        assert [error.value for error in at.error] == [FAULT]
        assert tracebacks(caplog) == 1  # two runs have failed
    at.button(key="page_again").click().run()
    assert not at.error
    assert_shows_something(at)


@pytest.mark.usefixtures("checkpoints", "logged")
def test_a_tab_or_panel_that_fails_leaves_the_rest_of_its_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compare, "draw_aggregates", fail)
    at = opened("pages/attention.py", model="mine", text="abc", panel="aggregates")
    assert [error.value for error in at.error] == [FAULT]
    assert at.get("bidi_component")
    at.button_group(key="attention_panel").set_value("compare").run()
    assert not at.error
    assert tracebacks(caplog) == 1


@pytest.mark.usefixtures("checkpoints", "logged")
def test_a_callback_that_fails_says_so_on_a_page_that_is_whole(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*_: object) -> None:
        raise CheckpointError("mine/config.json is gone.")

    at = opened("pages/translate.py", model="mine", text="abc")
    example, other = at.selectbox(key="example").options[:2]
    cases = ((fail, example, NOT_DONE), (gone, other, plain("mine/config.json is gone.")))
    for failure, chosen, said in cases:
        with monkeypatch.context() as patch:
            patch.setattr(session, "choose_example", failure)
            at.selectbox(key="example").select(chosen).run()
        assert not at.exception
        assert [error.value for error in at.error] == [said]
        assert at.text_input(key="text").value == "abc"
        assert_shows_something(at)
    assert tracebacks(caplog) == 1
    at.selectbox(key="example").select(example).run()
    assert not at.error
    assert at.text_input(key="text").value == example


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize("page", ["pages/runs.py", "pages/train.py", "pages/translate.py"])
def test_a_folder_that_makes_the_readers_fail_concerns_only_itself(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    save_run(checkpoints / "strange")
    sizes = model.folder.tensor_shapes

    def read(path: Path) -> dict[str, tuple[int, ...]]:
        return fail() if path.parent.name == "strange" else sizes(path)  # type: ignore[return-value]

    monkeypatch.setattr(model.folder, "tensor_shapes", read)
    runtime.models_changed()
    at = opened(page, model="mine", text="abc", entry="mine")
    assert_shows_something(at)
    assert not at.error
    assert UNFORESEEN in words(at)
    assert set(runtime.models()) == {"mine"}


@pytest.mark.usefixtures("logged")
def test_lines_about_a_model_that_cannot_be_written_concern_only_that_model(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_run(checkpoints / "strange")
    facts = model_list.facts
    model_list._read.cache_clear()
    monkeypatch.setattr(model_list, "facts", lambda summary: fail() if summary["name"] == "strange" else facts(summary))
    runtime.models_changed()
    assert set(runtime.models()) == {"mine"}
    assert runtime.broken_models() == {"strange": UNFORESEEN}
    runtime.models_changed()


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *((page, "model.safetensors") for page in sorted(set(PAGES) - {"pages/lessons.py", "pages/experiments.py"})),
        ("pages/translate.py", "config.json"),
        ("pages/attention.py", "tokenizer.json"),
    ],
)
def test_a_model_that_is_damaged_while_it_is_shown(checkpoints: Path, page: str, name: str) -> None:
    """The file is cut off: the next click says so."""
    save_run(checkpoints / "other")
    at: AppTest = opened(page, model="mine", run="mine", entry="mine", text="abc")
    path = checkpoints / "mine" / name
    path.write_bytes(path.read_bytes()[:40])
    runtime.models_changed()
    at.run()
    assert not at.exception
    assert f"mine/{name}" in words(at)
