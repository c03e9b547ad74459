"""The list of models: folders are read again when something in them changes, and only then."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorer.web import model_list, runtime
from model.folder import CONFIG, STATE, WEIGHTS, read_json, summarize, write_json
from tests.explorer.toy_models import save_toy


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        save_toy(tmp_path / name, "reverse")
        (tmp_path / name / STATE).mkdir()
    return tmp_path


def listed(checkpoints: Path) -> dict[str, model_list.Summary]:
    return {summary["name"]: summary for summary in model_list.summaries(checkpoints)}


CHANGES: dict[str, Callable[[Path], object]] = {
    "config": lambda folder: write_json(folder / CONFIG, read_json(folder / CONFIG) | {"title": "Another title"}),
    "weights": lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-1]),
    "a pickle": lambda folder: (folder / "weights.pt").write_bytes(b""),
    "a pickle inside": lambda folder: (folder / STATE / "optimizer.pt").write_bytes(b""),
}


def test_an_unchanged_folder_is_not_read_again_and_folders_come_and_go(
    checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = listed(checkpoints)
    with monkeypatch.context() as patch:
        patch.setattr(model_list, "summarize", lambda folder: pytest.fail(f"{folder.name} was read again"))
        assert listed(checkpoints) == before
    shutil.copytree(checkpoints / "one", checkpoints / "three")
    shutil.rmtree(checkpoints / "two")
    assert list(listed(checkpoints)) == ["one", "three"]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_folder_is_read_again(checkpoints: Path, change: str) -> None:
    before = listed(checkpoints)
    CHANGES[change](checkpoints / "one")
    after = listed(checkpoints)
    assert after["one"] == summarize(checkpoints / "one") != before["one"]
    assert after["two"] is before["two"]


def test_a_broken_folder_is_looked_at_again_each_time(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong may lie outside the folder, such as too many open files."""
    with monkeypatch.context() as patch:
        patch.setattr(model_list, "summarize", lambda folder: {"name": folder.name, "error": "cannot be read"})
        assert listed(checkpoints)["one"]["error"] == "cannot be read"
    assert listed(checkpoints)["one"]["error"] is None


def test_all_sessions_share_the_list_for_a_second_or_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry with a time to live may end while it is read, which is a KeyError on the page: seconds are keys."""
    reads: list[str] = []

    def read(checkpoints: str) -> list[dict[str, object]]:
        reads.append(checkpoints)
        return []

    monkeypatch.setattr(runtime, "summaries", read)
    runtime.models_changed()
    for now, expected in ((7.0, 1), (7.9, 1), (8.1, 2)):
        monkeypatch.setattr(runtime, "time", SimpleNamespace(monotonic=lambda now=now: now))
        assert runtime.models() == {}
        assert len(reads) == expected
    runtime.models_changed()
    runtime.models()
    assert len(reads) == 3
    runtime.models_changed()
