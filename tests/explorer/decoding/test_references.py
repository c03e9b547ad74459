"""Right translations: from the data that are at hand, and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.decoding.examples import reference, references
from model.data import get_task
from model.data.scenes import scenes


def test_every_pair_of_a_task_is_known() -> None:
    known = references({"task": "adjective-swap", "folder": ""})
    for examples in get_task("adjective-swap").splits.values():
        assert all(known[example.source] == example.target for example in examples)
    assert reference(" We READ red books", known) == "nous lisons livres rouge"
    assert reference("we read red green books", known) == ""


def test_without_the_corpus_only_what_ships_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    known = references({"task": "multi30k-de-en", "folder": ""})
    assert known == {scene.german: scene.english for scene in scenes()}


def test_unknown_tasks_have_none(tmp_path: Path) -> None:
    assert references({"task": "imported", "folder": ""}) == {}
    assert references({"task": "files", "folder": str(tmp_path)}) == {}
