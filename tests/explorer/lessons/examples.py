"""Questions and lessons that the tests of lessons share."""

from explorer.lessons.expressions import read_expression
from explorer.lessons.lesson import Choice, Lesson, Question, Step

HOSTILE = "<img src=x onerror=alert(1)></script>"


def asked(check: str, *choices: str, within: float | None = None) -> Question:
    return Question("?", tuple(map(Choice, choices)), read_expression(check), "", "yes", "no", within)


def lesson_of(n_steps: int, name: str = "attention") -> Lesson:
    """A lesson whose steps each have a question and an exercise, except the last one, which has neither."""
    step = Step("One", "text", 1, question=asked("x"), do="look", done=read_expression("own_sentence"))
    return Lesson(name, "Title", "About", 5, 1, (*(step,) * (n_steps - 1), Step("Last", "text", 9)))
