"""A reader's progress through the lessons: outcomes and answers by step, and their form in a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from explorer.lessons.lesson import Lesson
from explorer.lessons.library import Library
from explorer.locale.messages import t

LESSON, AT, DONE, PRESENT = "lesson", "at", "done", "present"  # names of the URL parameters
MAX_LINK = 2000  # characters of progress in a link
MAX_KEPT = 20_000  # characters of progress in a browser

_EXERCISE_DONE = 4  # added to the outcome in a step's digit
_PART = re.compile(r"([a-z0-9][a-z0-9-]{0,39})\.([0-7]{1,30})")


class Outcome(IntEnum):
    """How a question was answered. The numbers are stored in links and never change."""

    UNANSWERED = 0
    FIRST_TRY = 1
    LATER = 2
    SHOWN = 3


@dataclass(frozen=True)
class Answer:
    """The reader's last answer to a question, and how many answers they have given to it."""

    text: str
    tries: int


@dataclass(frozen=True)
class StepRecord:
    """The state of one step: its question's outcome, whether its exercise was done, and the last answer."""

    outcome: Outcome = Outcome.UNANSWERED
    done: bool = False
    answer: Answer | None = None


@dataclass(frozen=True)
class Progress:
    """Progress through all lessons; `codes` maps a lesson's name to one digit per step, sorted by name."""

    codes: tuple[tuple[str, str], ...] = ()

    def _code(self, lesson: str, step: int) -> int:
        digits = dict(self.codes).get(lesson, "")
        return int(digits[step - 1]) if step <= len(digits) else 0

    def outcome(self, lesson: str, step: int) -> Outcome:
        """The outcome of the question of a step, from 1."""
        return Outcome(self._code(lesson, step) % _EXERCISE_DONE)

    def is_done(self, lesson: str, step: int) -> bool:
        """Whether the exercise of a step was done."""
        return self._code(lesson, step) >= _EXERCISE_DONE

    def with_outcome(self, lesson: str, step: int, outcome: Outcome) -> Progress:
        """This progress with a question answered; the first outcome of a question is final."""
        if self.outcome(lesson, step) != Outcome.UNANSWERED:
            outcome = self.outcome(lesson, step)
        return self._with(lesson, step, outcome, self.is_done(lesson, step))

    def with_exercise_done(self, lesson: str, step: int) -> Progress:
        """This progress with the exercise of a step done."""
        return self._with(lesson, step, self.outcome(lesson, step), True)

    def _with(self, lesson: str, step: int, outcome: Outcome, done: bool) -> Progress:
        codes = dict(self.codes)
        digits = list(codes.get(lesson, "").ljust(step, "0"))
        digits[step - 1] = str(outcome + (_EXERCISE_DONE if done else 0))
        return self.merged({lesson: "".join(digits)})

    def merged(self, codes: Mapping[str, str]) -> Progress:
        """This progress, with the given lessons replaced."""
        return Progress(tuple(sorted({**dict(self.codes), **codes}.items())))

    def united(self, other: Progress) -> Progress:
        """Combine both, step by step: done in either counts as done, and the better outcome counts."""
        return self._combined(other, _better)

    def without(self, added: Progress, before: Progress) -> Progress:
        """Undo `added`: steps that still equal `added` are reset to `before`."""
        changed_since = self._combined(added, lambda own, theirs: 0 if own == theirs else own)
        return changed_since.united(before)

    def _combined(self, other: Progress, rule: Callable[[int, int], int]) -> Progress:
        codes = {}
        for name in {*dict(self.codes), *dict(other.codes)}:
            steps = range(1, max(len(dict(each.codes).get(name, "")) for each in (self, other)) + 1)
            digits = "".join(str(rule(self._code(name, at), other._code(name, at))) for at in steps)
            codes[name] = digits.rstrip("0")
        return Progress(tuple(sorted((name, digits) for name, digits in codes.items() if digits)))

    def has_begun(self, lesson: str) -> bool:
        """Whether anything in a lesson has been answered or done."""
        return lesson in dict(self.codes)

    def is_complete(self, lesson: Lesson, step: int) -> bool:
        """Whether the question of a step is answered, and its exercise done if the app can check it."""
        content = lesson.step(step)
        answered = content.question is None or self.outcome(lesson.name, step) != Outcome.UNANSWERED
        return answered and (content.done is None or self.is_done(lesson.name, step))

    def steps_complete(self, lesson: Lesson) -> int:
        """The number of complete steps of a lesson."""
        return sum(self.is_complete(lesson, step) for step in range(1, len(lesson.steps) + 1))

    def first_open_step(self, lesson: Lesson) -> int:
        """The first step that is not complete; 1 if all are."""
        return next((step for step in range(1, len(lesson.steps) + 1) if not self.is_complete(lesson, step)), 1)

    @property
    def text(self) -> str:
        """The progress as text, such as "attention.1052~masks.1"."""
        return "~".join(f"{name}.{digits.rstrip('0')}" for name, digits in self.codes if digits.strip("0"))


def _better(code: int, other: int) -> int:
    """Combine two digits of a step: exercise done in either, and the better outcome (see :class:`Outcome`)."""
    outcomes = [each % _EXERCISE_DONE for each in (code, other) if each % _EXERCISE_DONE]
    return min(outcomes, default=0) + (_EXERCISE_DONE if max(code, other) >= _EXERCISE_DONE else 0)


def read_progress(text: str, max_length: int = MAX_LINK) -> tuple[Progress, bool]:
    """Read untrusted progress from a link or a browser; also returns whether any part of it was unreadable."""
    parts = text[:max_length].split("~") if text else []
    matches = [_PART.fullmatch(part) for part in parts]
    progress = Progress().merged({match[1]: match[2] for match in matches if match})
    return progress, len(text) > max_length or not all(matches)


@dataclass(frozen=True)
class LessonPosition:
    """A reader's position: the open lesson ("" = none), its step from 1, all progress, and presentation mode."""

    lesson: str = ""
    step: int = 1
    progress: Progress = field(default_factory=Progress)
    presenting: bool = False

    def query(self, *, lessons_page: bool) -> dict[str, str]:
        """The position as URL parameters; without an open lesson, only the Lessons page has the progress."""
        query: dict[str, str] = {}
        if self.lesson:
            query = {LESSON: self.lesson, AT: str(self.step)}
        if self.lesson and self.presenting:
            query[PRESENT] = "1"
        if (self.lesson or lessons_page) and 0 < len(self.progress.text) <= MAX_LINK:
            query[DONE] = self.progress.text
        return query


def read_position(
    query: Mapping[str, str], library: Library, current: LessonPosition
) -> tuple[LessonPosition, tuple[str, ...]]:
    """Read a position from URL parameters; also returns a sentence for each part that cannot be used.

    Progress is added to that of `current`; a missing parameter keeps the current lesson.
    """
    problems = []
    name, step = query.get(LESSON, current.lesson), query.get(AT, "1")
    lesson = library.find(name)
    if name and lesson is None:
        problems.append(t("There is no lesson '{name}' here. The lessons below are available.", name=name))
        name = ""
    number = int(step) if step.isascii() and step.isdecimal() and len(step) < 4 else 0
    if lesson is not None and not 1 <= number <= len(lesson.steps):
        problems.append(
            t(
                "This lesson has pages 1 to {n}, not '{step}'. It opens at page 1.",
                n=len(lesson.steps),
                step=step[:20],
            )
        )
        number = 1
    progress, unreadable = read_progress(query.get(DONE, ""))
    if unreadable:
        problems.append(t("Part of the progress in the link is unreadable and was ignored."))
    united = current.progress.united(progress)
    position = replace(current, lesson=name, step=max(number, 1), progress=united, presenting=query.get(PRESENT) == "1")
    return position, tuple(problems)
