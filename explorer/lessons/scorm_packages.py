"""Lessons as packages for learning platforms: each on its own, and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from explorer.browser.lesson_structs import LessonOnSite
from explorer.files.scorm import package
from explorer.locale.messages import message, translated

ALL = "lessons"
TITLE = message("How a Transformer translates")


def packages(
    lessons: Sequence[LessonOnSite], page: Callable[[tuple[LessonOnSite, ...]], bytes]
) -> Iterator[tuple[str, bytes]]:
    """Make the packages, with the names of their files: one for each lesson that the site has, and one with all.

    `page` makes the HTML file of a package, which contains these lessons and their models, and connects with the
    platform (js/scorm.js).
    """
    here = tuple(lesson for lesson in lessons if lesson.steps)
    for lesson in here:
        yield f"{lesson.name}.zip", package(f"lesson-{lesson.name}", lesson.title, page((lesson,)))
    if here:
        yield f"{ALL}.zip", package(ALL, translated(TITLE), page(here))
