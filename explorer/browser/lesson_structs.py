"""Types of the lessons on the site, as :mod:`explorer.browser.structs`. Steps count from 1, choices from 0."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LessonTerm:
    """The name of an exercise or a check, and its parameters as text."""

    name: str
    values: dict[str, str]


@dataclass(frozen=True)
class LessonQuestion:
    """A question of a lesson on the site, its texts as HTML; `wrong` is the hint to a wrong answer.

    `accepted` are hashes of right answers: of the index of a choice, of a word, or of a whole number. A number that may
    differ from the right one is `number`, with the largest difference `within`. The answer to a question about the
    reader's own sentence is the value of `here`. `solution` is a :class:`LessonSolution`, not legible at a glance.
    """

    text: str
    choices: list[str]
    salt: str
    accepted: list[str]
    number: float | None
    within: float
    here: LessonTerm | None
    wrong: str
    solution: str


@dataclass(frozen=True)
class LessonSolution:
    """The right answer as text, its explanation as HTML, and whether the explanation begins with the answer."""

    answer: str
    right: str
    opens: bool


@dataclass(frozen=True)
class LessonStep:
    """A step of a lesson on the site, its texts as HTML.

    `page` is the page that shows its figure ("" = none) and `query` what it opens with; with `after`, the figure is
    hidden until the question is answered. `needs` says what the step needs beside the site. `done` is the check of the
    exercise `do`, if the browser can check it.
    """

    title: str
    text: str
    needs: str
    page: str
    query: dict[str, str]
    after: bool
    controls: list[str]
    do: str
    done: LessonTerm | None
    question: LessonQuestion | None


@dataclass(frozen=True)
class LessonOnSite:
    """A lesson, its recap as HTML. `why` says why the site does not have its steps ("" = it has them).

    `parts` has a number for each step, also of a lesson without steps here: 1 if it has a question, plus 2 if it has an
    exercise that is checked. `picture` is an SVG for the list ("" = none), `after` the
    name of the lesson that comes before it, `age` the age from which it is meant.
    """

    name: str
    title: str
    about: str
    minutes: int
    language: str
    parts: list[int]
    why: str
    recap: list[str]
    steps: list[LessonStep]
    picture: str = ""
    after: str = ""
    age: int | None = None
