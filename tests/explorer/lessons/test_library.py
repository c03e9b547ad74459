"""A folder of lessons, and progress and position in a link."""

import os
from pathlib import Path

import pytest

from explorer.lessons import library as library_module
from explorer.lessons.lesson import Lesson, Step
from explorer.lessons.lesson_file import read_lesson
from explorer.lessons.library import Library, lesson_files, read_library
from explorer.lessons.progress import LessonPosition, Outcome, Progress, read_position
from model import faults
from tests.explorer.lessons.examples import lesson_of


def test_a_library_is_in_order_and_names_what_is_broken(tmp_path: Path) -> None:
    front = '+++\ntitle = "{0}"\nabout = "b"\nminutes = 1\norder = {1}\n+++\n## One\n\ntext\n'
    (tmp_path / "a.md").write_text(front.format("Second", 2), encoding="utf-8")
    (tmp_path / "b.md").write_text(front.format("First", 1), encoding="utf-8")
    (tmp_path / "c.md").write_text("no lesson", encoding="utf-8")
    (tmp_path / "a.svg").write_text("<svg viewBox='0 0 96 64'/>", encoding="utf-8")
    (tmp_path / "b.svg").write_text("<html><script></script></html>", encoding="utf-8")
    library = read_library(lesson_files(tmp_path))
    first, second = library.lessons
    assert (first.title, second.title) == ("First", "Second")
    assert (first.picture, second.picture) == ("", "<svg viewBox='0 0 96 64'/>"), "what is no SVG is no picture"
    (problem,) = library.problems
    assert problem.startswith("c.md, line 1:")
    assert [library.find(name) for name in "abc"] == [second, first, None]
    assert [library.after(name) for name in "abc"] == [None, second, None]


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
    reported: list[Exception] = []

    def fail(path: Path) -> Lesson:
        if path.name == "digits.md":
            raise AttributeError("unforeseen")
        return read_lesson(path)

    monkeypatch.setattr(library_module, "read_lesson", fail)
    monkeypatch.setattr(faults, "report", reported.append)
    again = read_library(lesson_files(tmp_path))
    assert again.lessons == library.lessons
    assert "digits.md cannot be read because of a fault in Headlight." in again.problems
    assert [str(fault) for fault in reported] == ["unforeseen"]


def test_progress_keeps_the_first_outcome_and_counts_complete_steps() -> None:
    lesson = lesson_of(3)
    progress = Progress()
    assert progress.steps_complete(lesson) == 1
    assert not progress.has_begun("attention")
    progress = progress.with_outcome("attention", 2, Outcome.LATER).with_outcome("attention", 2, Outcome.SHOWN)
    assert progress.codes == (("attention", "02"),)
    assert not progress.is_complete(lesson, 2)
    progress = progress.with_exercise_done("attention", 2)
    assert (progress.outcome("attention", 2), progress.is_done("attention", 2)) == (Outcome.LATER, True)
    assert progress.is_complete(lesson, 2)
    assert progress.has_begun("attention")
    assert (progress.steps_complete(lesson), progress.first_open_step(lesson)) == (2, 1)
    everything = progress.with_outcome("attention", 1, Outcome.SHOWN).with_exercise_done("attention", 1)
    assert (everything.steps_complete(lesson), everything.first_open_step(lesson)) == (3, 1)
    assert progress.outcome("attention", 1) == Outcome.UNANSWERED
    unchecked = Lesson("attention", "Title", "About", 5, 1, (Step("One", "text", 1, do="look"),))
    assert progress.is_complete(unchecked, 1), "nobody has to tick off what the app cannot check"
    assert progress.merged({"attention": "5"}).codes == (("attention", "5"),)


def test_a_position_is_read_from_a_link_and_written_back() -> None:
    library = Library((lesson_of(3),))
    query = {"lesson": "attention", "at": "2", "done": "attention.1", "present": "1"}
    position, problems = read_position(query, library, LessonPosition(progress=Progress((("masks", "4"),))))
    assert not problems
    assert position == LessonPosition("attention", 2, Progress((("attention", "1"), ("masks", "4"))), True)
    assert position.query(lessons_page=False) == {**query, "done": "attention.1~masks.4"}
    away = LessonPosition(progress=position.progress)
    assert away.query(lessons_page=True) == {"done": "attention.1~masks.4"}
    assert away.query(lessons_page=False) == {}
    for broken, said, where in (
        ({"lesson": "nothing"}, "There is no lesson 'nothing'", ("", 1)),
        ({"lesson": "attention", "at": "4"}, "pages 1 to 3, not '4'", ("attention", 1)),
        ({"lesson": "attention", "at": "²"}, "pages 1 to 3", ("attention", 1)),
        ({"lesson": "attention", "done": "<b>"}, "unreadable", ("attention", 1)),
    ):
        found, (problem,) = read_position(broken, library, LessonPosition())
        assert said in problem
        assert (found.lesson, found.step) == where
