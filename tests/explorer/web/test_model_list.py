"""The list of models: folders are read again when something in them changes, and only then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.web import model_list
from model.folder import CONFIG, STATE, WEIGHTS, read_json, write_json
from tests.explorer.toy_models import save_toy


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        save_toy(tmp_path / name, "reverse")
    return tmp_path


def listed(checkpoints: Path) -> dict[str, model_list.Summary]:
    return {summary["name"]: summary for summary in model_list.summaries(checkpoints)}


def retitle(folder: Path) -> None:
    write_json(folder / CONFIG, read_json(folder / CONFIG) | {"title": "Another title"})


def cut(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-1])


def add_pickle(folder: Path) -> None:
    (folder / "weights.pt").touch()


def add_pickle_inside(folder: Path) -> None:
    (folder / STATE).mkdir()
    (folder / STATE / "optimizer.pt").touch()


def test_an_unchanged_folder_is_not_read_again(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = listed(checkpoints)
    monkeypatch.setattr(model_list, "summarize", lambda folder: pytest.fail(f"{folder.name} was read again"))
    assert listed(checkpoints) == before


@pytest.mark.parametrize("change", [retitle, cut, add_pickle, add_pickle_inside])
def test_a_changed_folder_is_read_again(checkpoints: Path, change: Callable[[Path], None]) -> None:
    before = listed(checkpoints)
    change(checkpoints / "one")
    after = listed(checkpoints)
    assert after["one"] == model_list.summarize(checkpoints / "one") != before["one"]
    assert after["two"] is before["two"]


def test_a_broken_folder_is_looked_at_again_each_time(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong may lie outside the folder, such as too many open files."""
    with monkeypatch.context() as patch:
        patch.setattr(model_list, "summarize", lambda folder: {"name": folder.name, "error": "cannot be read"})
        assert listed(checkpoints)["one"]["error"] == "cannot be read"
    assert listed(checkpoints)["one"]["error"] is None


def test_folders_come_and_go(checkpoints: Path) -> None:
    listed(checkpoints)
    shutil.copytree(checkpoints / "one", checkpoints / "three")
    shutil.rmtree(checkpoints / "two")
    assert list(listed(checkpoints)) == ["one", "three"]
