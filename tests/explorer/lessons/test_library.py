"""A folder of lessons."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from explorer.lessons import library as library_module
from explorer.lessons.lesson import Lesson
from explorer.lessons.library import lesson_files, read_library


def test_a_library_is_in_order_and_names_what_is_broken(tmp_path: Path) -> None:
    front = '+++\ntitle = "{0}"\nabout = "b"\nminutes = 1\norder = {1}\n+++\n## One\n\ntext\n'
    (tmp_path / "a.md").write_text(front.format("Second", 2), encoding="utf-8")
    (tmp_path / "b.md").write_text(front.format("First", 1), encoding="utf-8")
    (tmp_path / "c.md").write_text("no lesson", encoding="utf-8")
    library = read_library(lesson_files(tmp_path))
    assert [lesson.title for lesson in library.lessons] == ["First", "Second"]
    assert library.problems == (read_library([tmp_path / "c.md"]).problems[0],)
    assert library.problems[0].startswith("c.md, line 1:")
    found = library.find("a")
    assert found
    assert found.title == "Second"
    assert library.find("c") is None
    assert library.after("b") == found
    assert library.after("a") is None
    assert library.after("c") is None


def test_no_file_in_the_folder_keeps_the_other_lessons_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    front = '+++\ntitle = "A"\nabout = "b"\nminutes = {0}\n+++\n## One\n\ntext\n'
    (tmp_path / "good.md").write_text(front.format(1), encoding="utf-8")
    (tmp_path / "digits.md").write_text(front.format("9" * 5000), encoding="utf-8")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    expected = {"digits.md, line 4:", "folder.md is", "gone.md cannot"}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.md")
        expected.add("pipe.md is")
    library = read_library(lesson_files(tmp_path))
    assert [lesson.name for lesson in library.lessons] == ["good"]
    assert {problem.split()[0] for problem in library.problems} == {start.split()[0] for start in expected}
    assert all(problem.startswith(tuple(expected)) for problem in library.problems)
    read, reported = library_module.read_lesson, list[Exception]()

    def fail(path: Path) -> Lesson:
        if path.name == "digits.md":
            raise AttributeError("unforeseen")
        return read(path)

    monkeypatch.setattr(library_module, "read_lesson", fail)
    monkeypatch.setattr(library_module.faults, "report", reported.append)
    again = read_library(lesson_files(tmp_path))
    assert again.lessons == library.lessons
    assert "digits.md cannot be read because of a fault in Headlight." in again.problems
    assert [str(fault) for fault in reported] == ["unforeseen"]
