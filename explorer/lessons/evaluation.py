"""Compute what lessons ask of the models: expressions, numbers in their text, and claims."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from explorer.decoding.examples import examples_of
from explorer.decoding.selection import Selection
from explorer.lessons.expressions import Expression, Term, TermError, Value, compare, read_expression, value_text
from explorer.lessons.lesson import Step
from explorer.lessons.lesson_file import CODE, PLACEHOLDER
from explorer.locale.messages import t
from explorer.locale.text import plain


@dataclass(frozen=True)
class Models:
    """The models that lessons ask.

    `summaries()` returns their summaries by name, `encode(model, text)` target ids, and `check(model, sentence, path,
    term)` the value of one term, with the translation forced to begin with `path`. The last two raise TermError if
    there is no result.
    """

    summaries: Callable[[], Mapping[str, dict[str, Any]]]
    encode: Callable[[str, str], tuple[int, ...]]
    check: Callable[[str, str, tuple[int, ...], Term], Value]

    def start_of(self, step: Step) -> Selection:
        """The selection that a step opens with; if its link has no sentence, the model's first example is taken."""
        if step.link is None:
            return Selection()
        summaries = self.summaries()
        start = step.link.selection(summaries)
        if not start.text and start.model in summaries:
            examples = examples_of(summaries[start.model])
            start = dataclasses.replace(start, text=examples[0].source if examples else "")
        return start

    def evaluate(self, expression: Expression, start: Selection, here: Selection | None = None) -> Value:
        """Compute an expression; `start` is the step's selection, `here` the reader's (for `of=here`).

        Raises:
            TermError: it cannot be computed; the message says why.
        """
        left, right = self._value(expression.left, start, here), expression.right
        if not expression.op:
            return left
        return compare(left, expression.op, self._value(right, start, here) if isinstance(right, Term) else right)

    def _value(self, term: Term, start: Selection, here: Selection | None) -> Value:
        values, summaries = term.values, self.summaries()
        base = here if values.get("of") == "here" and here is not None else start
        names = values.get("model", base.model).split(",")
        model = next((name for name in names if name in summaries), "")
        if not model:
            raise TermError("{term} needs the model {names}, which is not here", term=term, names=" or ".join(names))
        text = values.get("text", base.text)
        path = base.path if text == base.text and model == base.model else None
        if "after" in values:
            path = self.encode(model, values["after"])
        return self.check(model, text, tuple(path or ()), term)

    def fill(self, text: str, start: Selection, answer: str = "") -> str:
        """Replace each placeholder in braces by its value, as text and not as markup; `{answer}` is the right answer.

        Code spans are left unchanged, unless the whole span is one placeholder.

        Raises:
            TermError: a placeholder cannot be computed.
        """

        def number(inside: str) -> str:
            if inside == "answer":
                return answer
            expression = read_expression(inside)
            return value_text(self.evaluate(expression, start), expression.left.values.get("as", ""))

        def filled(part: str) -> str:
            if not part.startswith("`"):
                return PLACEHOLDER.sub(lambda match: plain(number(match[1])), part)
            match = PLACEHOLDER.fullmatch(part[1:-1])
            # Inside a code span, only backticks are markup.
            return f"`{number(match[1]).replace('`', 'ˋ') or ' '}`" if match else part

        return "".join(map(filled, CODE.split(text)))

    def broken_claims(self, step: Step, start: Selection) -> list[str]:
        """A sentence for each claim of a step that does not hold."""
        problems = []
        for claim in step.claims:
            try:
                holds = self.evaluate(claim, start)
            except TermError as error:
                problems.append(f"{error}.".replace("..", "."))
                continue
            if holds is not True:
                value = value_text(self.evaluate(Expression(claim.left), start), "4")
                problems.append(t("{claim} does not hold (it is {value}).", claim=claim, value=value))
        return problems
