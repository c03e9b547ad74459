"""A lesson as a value: steps with text, a place in the app, one thing to do and a question that the models answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from explorer.lessons.expressions import Expression
from explorer.translation.selection import Selection, from_query

PAGES = ("translate", "attention", "positions", "masks", "inside", "probe", "train", "runs", "experiments")
IN_PLACE = ("translate", "attention")  # these pages' views can stand inside a lesson


class LessonError(ValueError):
    """A lesson file that cannot be used; the message names the file and the line."""


@dataclass(frozen=True)
class Link:
    """A place in the app: a page, its parameters, and the tab that is to be open there.

    `models` are names, the first of which that is there is opened.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()
    tab: str = ""

    def model(self, known: Mapping[str, object]) -> str:
        """The name of the model to open; where none is there, the first one that is asked for."""
        return next((name for name in self.models if name in known), self.models[0] if self.models else "")

    def selection(self, known: Mapping[str, object]) -> Selection:
        """The place as a selection; `known` are the models that are there."""
        return replace(from_query(dict(self.query))[0], model=self.model(known))

    @property
    def text(self) -> str:
        """The sentence."""
        return dict(self.query).get("text", "")


@dataclass(frozen=True)
class Choice:
    """One answer to choose; `expression` where the answers are compared with each other."""

    text: str
    expression: Expression | None = None


@dataclass(frozen=True)
class Question:
    """A question and how its answer is computed.

    `check` is computed from the step's place; `pick` is "largest" or "smallest" where the choices carry expressions
    instead. Without choices the answer is typed, and a number may be `within` so much of the right one.
    """

    text: str
    choices: tuple[Choice, ...] = ()
    check: Expression | None = None
    pick: str = ""
    right: str = ""
    wrong: str = ""
    within: float | None = None

    @property
    def is_about_the_readers(self) -> bool:
        """Whether the answer is computed from the reader's own sentence."""
        expressions = [self.check, *(choice.expression for choice in self.choices)]
        return any(term.values.get("of") == "here" for each in expressions if each for term in each.terms)

    @property
    def style(self) -> str:
        """How a computed number is shown."""
        return self.check.left.values.get("as", "") if self.check and not self.check.op else ""


@dataclass(frozen=True)
class Step:
    """One step. `line` is where it begins in the file; `after` holds the view back until the question is answered.

    `done` says when the thing to do has been done; None: the reader says so. `needs` are names of models of which one
    must be there.
    """

    title: str
    text: str
    line: int
    link: Link | None = None
    after: bool = False
    do: str = ""
    done: Expression | None = None
    question: Question | None = None
    claims: tuple[Expression, ...] = ()
    needs: tuple[str, ...] = ()

    def missing(self, known: Mapping[str, object]) -> bool:
        """Whether the step cannot be taken because none of the models that it needs is there."""
        return bool(self.needs) and not any(name in known for name in self.needs)


@dataclass(frozen=True)
class Lesson:
    """A lesson; `name` is its file's name without the ending, and its name in links."""

    name: str
    title: str
    about: str
    minutes: int
    order: int
    steps: tuple[Step, ...]
    language: str = "en"

    def step(self, at: int) -> Step:
        """Step number `at`, from 1."""
        return self.steps[at - 1]
