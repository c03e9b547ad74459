"""Read all lesson files of a folder, in reading order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from explorer.lessons.lesson import Lesson, LessonError
from explorer.lessons.lesson_file import read_lesson
from explorer.locale.messages import t
from model import faults

FOLDER = Path(os.environ.get("HEADLIGHT_LESSONS", Path(__file__).parent / "content"))
MAX_LESSONS = 60


@dataclass(frozen=True)
class Library:
    """The lessons in reading order, and a sentence for each file that is not a valid lesson."""

    lessons: tuple[Lesson, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, name: str) -> Lesson | None:
        """The lesson with this name, or None."""
        return next((lesson for lesson in self.lessons if lesson.name == name), None)

    def after(self, name: str) -> Lesson | None:
        """The lesson that follows this one in the list; None after the last one, or if there is no such lesson."""
        names = [lesson.name for lesson in self.lessons]
        at = names.index(name) + 1 if name in names else len(names)
        return self.lessons[at] if at < len(names) else None


def lesson_files(folder: Path) -> list[Path]:
    """The lesson files of a folder, at most `MAX_LESSONS`, by name."""
    return sorted(folder.glob("*.md"))[:MAX_LESSONS]


def read_library(files: Iterable[Path]) -> Library:
    """Read lesson files; a broken file becomes a problem and does not stop the others."""
    lessons, problems = [], []
    for path in files:
        try:
            lessons.append(read_lesson(path))
        except LessonError as broken:
            problems.append(str(broken))
        except Exception as fault:  # an unforeseen error must not hide the other lessons
            faults.report(fault)
            problems.append(t("{file} cannot be read because of a fault in Headlight.", file=path.name))
    return Library(tuple(sorted(lessons, key=lambda lesson: (lesson.order, lesson.name))), tuple(problems))
