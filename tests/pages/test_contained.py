"""What goes wrong in one part of a page, or in one model folder, stays there: a sentence, a way on, one traceback."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import model.folder
from explorer.locale.text import plain
from explorer.screens.attention import compare
from explorer.screens.masks import page as masks
from explorer.web import runtime, session
from explorer.web.faults import FAULT, NOT_DONE
from model import faults
from model.folder import UNFORESEEN, CheckpointError
from tests.explorer.toy_runs import save_run
from tests.pages.page import PAGES, assert_shows_something, choose, click, run, visit, words
from tests.some import some

REPORT = faults.report  # before the fixture of all tests replaces it


@pytest.fixture
def mine(checkpoints: Path) -> Path:
    return save_run(checkpoints / "mine")


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are logged, as on a server, instead of ending the test."""
    monkeypatch.setattr(faults, "_logged", set())
    monkeypatch.setattr(faults, "report", REPORT)


def opened(page: str, name: str = "mine", **query: str) -> AppTest:
    return visit(page, **({"model": name, "run": name, "entry": name, "text": "abc", "sample": "task.3"} | query))


def fail(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("unforeseen")


def tracebacks(caplog: pytest.LogCaptureFixture) -> int:
    return sum(record.name == "headlight" and record.exc_info is not None for record in caplog.records)


# Faults of the program


@pytest.mark.usefixtures("mine", "logged")
def test_a_page_that_meets_the_unforeseen_says_so_and_works_the_next_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(masks, "draw", fail)
        at = run(opened("masks"))
        assert [error.value for error in at.error] == [FAULT]
        assert tracebacks(caplog) == 1  # two runs have failed
    click(at, "page_again")
    assert not at.error
    assert_shows_something(at)


@pytest.mark.usefixtures("mine", "logged")
def test_a_panel_that_fails_leaves_the_rest_of_its_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compare, "draw_forced", fail)
    at = opened("attention", panel="forcing")
    assert [error.value for error in at.error] == [FAULT]
    assert at.get("bidi_component")
    choose(at, attention_panel="compare")
    assert not at.error
    assert tracebacks(caplog) == 1


@pytest.mark.usefixtures("mine", "logged")
def test_a_callback_that_fails_says_so_on_a_page_that_is_whole(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*_: object) -> None:
        raise CheckpointError("mine/config.json is gone.")

    at = opened("translate")
    example, other = at.selectbox(key="example").options[:2]
    cases = ((fail, example, NOT_DONE), (gone, other, plain("mine/config.json is gone.")))
    for failure, chosen, said in cases:
        with monkeypatch.context() as patch:
            patch.setattr(session, "choose_example", failure)
            choose(at, example=chosen)
        assert [error.value for error in at.error] == [said]
        assert at.text_input(key="text").value == "abc"
        assert_shows_something(at)
    assert tracebacks(caplog) == 1
    choose(at, example=example)
    assert not at.error
    assert at.text_input(key="text").value == example


@pytest.mark.usefixtures("logged", "mine")
@pytest.mark.parametrize("page", ["runs", "translate"])
def test_a_folder_that_makes_the_readers_fail_concerns_only_itself(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    save_run(checkpoints / "strange")
    sizes = model.folder.tensor_shapes

    def read(path: Path) -> dict[str, tuple[int, ...]]:
        return fail() if path.parent.name == "strange" else sizes(path)

    monkeypatch.setattr(model.folder, "tensor_shapes", read)
    runtime.models_changed()
    at = opened(page, run="")
    assert_shows_something(at)
    assert not at.error
    assert UNFORESEEN in words(at)
    assert set(runtime.models()) == {"mine"}


# Folders that are damaged, deleted or odd


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("translate", "config.json"),
        ("attention", "tokenizer.json"),
        *some(((page, "model.safetensors") for page in PAGES if page not in ("lessons", "experiments")), 5),
    ],
)
def test_a_model_that_is_damaged_while_it_is_shown(mine: Path, page: str, name: str) -> None:
    """The file is cut off: the next click says so."""
    save_run(mine.parent / "other")
    at = opened(page)
    (mine / name).write_bytes((mine / name).read_bytes()[:40])
    runtime.models_changed()
    assert f"mine/{name}" in words(run(at))


@pytest.mark.parametrize(
    ("others", "listed"),
    [(True, True), (False, False)],
    ids=["another is left, still listed", "none is left, not listed any more"],
)
@pytest.mark.parametrize("page", some(PAGES, 5))
def test_the_folder_is_deleted_while_it_is_shown(mine: Path, page: str, others: bool, listed: bool) -> None:
    if others:
        save_run(mine.parent / "other")
    at = opened(page)
    shutil.rmtree(mine)
    if not listed:
        runtime.models_changed()
    run(at)
    if page == "lessons":  # a list of lessons, each with its button
        assert [button.label for button in at.main.button if button.label == "Start"]
    else:
        assert_shows_something(at)
    assert {path.name for path in mine.parent.iterdir()} == ({"other"} if others else set())
