"""A lesson as a value: steps with a text, a view in the app, an exercise and a question that the models answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from explorer.decoding.selection import Selection, from_query
from explorer.lessons.expressions import Expression
from model.user_error import UserError

PAGES = ("translate", "attention", "positions", "masks", "inside", "probe", "train", "runs", "experiments")
OF_HEADS = ("translate", "attention")  # pages that are one view of attention
IN_PLACE = (*OF_HEADS, "inside", "masks", "positions")  # pages whose views and tabs can be shown inside a lesson
# Controls of these views that a step may request; views in lessons have no others.
Control = Literal["views", "kinds", "steps", "bars", "temperature"]
CONTROLS: tuple[Control, ...] = get_args(Control)


class LessonError(UserError):
    """The lesson file is invalid; the message names the file and the line."""


@dataclass(frozen=True)
class Link:
    """A view in the app: a page, its parameters, and the tab to open.

    `models` are names in order of preference; the first available one is opened.
    """

    page: str
    query: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()
    tab: str = ""

    def model(self, available: Mapping[str, object]) -> str:
        """The first available model, or the first one if none is available."""
        return next((name for name in self.models if name in available), self.models[0] if self.models else "")

    def selection(self, available: Mapping[str, object]) -> Selection:
        """The view as a selection, given the available models."""
        return replace(from_query(dict(self.query))[0], model=self.model(available))

    @property
    def text(self) -> str:
        """The sentence."""
        return dict(self.query).get("text", "")


@dataclass(frozen=True)
class Choice:
    """One of several answers; `expression` is its value, if the answers are compared with each other.

    `meaning` is what a computed answer is compared with where `text` was translated.
    """

    text: str
    expression: Expression | None = None
    meaning: str = ""


@dataclass(frozen=True)
class Question:
    """A question and how its answer is computed.

    `check` is evaluated for the step's selection; if the choices have expressions instead, `pick` is "largest" or
    "smallest". Without choices the answer is typed, and a number may differ from the right one by `within`.
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
        """Whether the answer depends on the reader's own sentence."""
        expressions = [self.check, *(choice.expression for choice in self.choices)]
        return any(term.values.get("of") == "here" for each in expressions if each for term in each.terms)

    @property
    def style(self) -> str:
        """The format of a computed number (see `expressions.value_text`)."""
        return self.check.left.values.get("as", "") if self.check and not self.check.op else ""


@dataclass(frozen=True)
class Step:
    """One step. `line` is its first line in the file; with `after`, the view is hidden until the question is answered.

    `do` is the exercise and `done` its check, if the app can check it. At least one of the models in `needs` must be
    available. `controls` are the controls of the view in the lesson.
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
    controls: tuple[str, ...] = ()

    @property
    def asks_first(self) -> bool:
        """Whether the question comes before the exercise: the view has the answer, and is hidden or itself a guess."""
        view = dict(self.link.query).get("view", "") if self.link else ""
        return self.question is not None and (self.after or "guess" in view.split("."))

    @property
    def steps(self) -> bool:
        """Whether the exercise may need the view's steps."""
        done = self.done.left if self.done else None
        followed = self.link is not None and "follow" in dict(self.link.query)
        return done is None or done.name != "at" or "step" in done.values or followed

    @property
    def named_block(self) -> str:
        """The block of the machine that the exercise asks to open ("" = none, or the step itself opens one)."""
        done, opened = self.done, dict(self.link.query).get("block", "") if self.link else ""
        return "" if done is None or opened else done.left.values.get("block", "")

    def missing(self, available: Mapping[str, object]) -> bool:
        """Whether none of the models that the step needs is available."""
        return bool(self.needs) and not any(name in available for name in self.needs)


@dataclass(frozen=True)
class Lesson:
    """A lesson; `name` is the name of its file without the suffix, also used in links.

    `recap` are sentences (Markdown) that summarise the lesson at its end; `picture` is an SVG for the list ("" = none).
    `after` names the lesson that comes before it ("" = none), `age` the age from which it is meant (None = any).
    """

    name: str
    title: str
    about: str
    minutes: int
    order: int
    steps: tuple[Step, ...]
    language: str = "en"
    recap: tuple[str, ...] = ()
    picture: str = ""
    after: str = ""
    age: int | None = None

    def step(self, at: int) -> Step:
        """Step number `at`, from 1."""
        return self.steps[at - 1]
