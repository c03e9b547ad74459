"""Progress and position in a link."""

from __future__ import annotations

from explorer.lessons.lesson import Lesson, Step
from explorer.lessons.library import Library
from explorer.lessons.progress import (
    MAX_KEPT,
    LessonPosition,
    Outcome,
    Progress,
    read_position,
    read_progress,
)
from tests.explorer.lessons.examples import lesson_of


def test_progress_survives_a_link_and_invalid_parts_are_dropped() -> None:
    progress = Progress((("attention", "10520"), ("masks", "000"), ("order", "4")))
    assert progress.in_link() == "attention.1052~order.4"
    assert read_progress("attention.1052~order.4") == (Progress((("attention", "1052"), ("order", "4"))), False)
    assert read_progress("") == (Progress(), False)
    for text in ("attention", "a.9", "a.1~<b>", "~", "a." + "1" * 40, "a.1~" * 900):
        assert read_progress(text)[1], text
    assert Progress(tuple((f"lesson-{i}", "1" * 30) for i in range(100))).in_link() == ""


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
        ({"lesson": "attention", "at": "4"}, "steps 1 to 3, not '4'", ("attention", 1)),
        ({"lesson": "attention", "at": "²"}, "steps 1 to 3", ("attention", 1)),
        ({"lesson": "attention", "done": "<b>"}, "unreadable", ("attention", 1)),
    ):
        found, (problem,) = read_position(broken, library, LessonPosition())
        assert said in problem
        assert (found.lesson, found.step) == where


def test_progress_of_two_places_is_united_and_what_a_link_added_can_be_left_out() -> None:
    kept, linked = Progress((("attention", "205"), ("masks", "3"))), Progress((("attention", "1104"), ("order", "1")))
    united = kept.united(linked)
    assert united.codes == (("attention", "1154"), ("masks", "3"), ("order", "1"))
    assert linked.united(kept) == united
    assert united.united(united) == united
    assert united.without(linked, kept).codes == (("attention", "205"), ("masks", "3"))
    # What the reader has done since stays.
    later = united.with_outcome("order", 2, Outcome.FIRST_TRY)
    assert later.without(linked, kept).codes == (("attention", "205"), ("masks", "3"), ("order", "01"))
    # A link that is older than the session takes nothing away.
    library = Library((lesson_of(3),))
    position, _ = read_position({"done": "attention.1"}, library, LessonPosition(progress=united))
    assert position.progress == united


def test_a_browser_keeps_more_than_a_link_holds() -> None:
    many = Progress(tuple(sorted((f"lesson-{i}", "1" * 30) for i in range(60))))
    assert many.in_link() == ""
    assert read_progress(many.text, MAX_KEPT) == (many, False)
