"""Make the lessons of the site from lesson files: texts as HTML, numbers and answers computed from the models now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from explorer.browser.lesson_structs import LessonOnSite, LessonQuestion, LessonSolution, LessonStep, LessonTerm
from explorer.decoding.selection import Selection, to_query
from explorer.lessons.answers import bare, opens_with, solve, tolerance
from explorer.lessons.evaluation import Models
from explorer.lessons.expressions import Term, TermError, read_expression
from explorer.lessons.handout import html_of, inline_html
from explorer.lessons.lesson import Lesson, LessonError, Question, Step
from explorer.lessons.lesson_file import placeholders
from explorer.lessons.sealed import hashed, sealed
from explorer.locale.messages import message, t, translated
from explorer.locale.text import listed, quoted

PAGES = ("translate", "attention", "inside")
TABS = ("", message("The machine"))  # of the page Inside; the site has no others
EXERCISES = ("at", "own_sentence", "other_path", "edited")
QUESTION_OF_APP = message("The question of this step is about your own sentence, and only the app can answer it.")
HERE = ("predicted", "translation")  # checks of the reader's own sentence that the browser computes
ANSWER = "⟦answer⟧"  # in the explanation of a question about the reader's own sentence


def site_lessons(lessons: Sequence[Lesson], models: Models, live: Collection[str]) -> list[LessonOnSite]:
    """Make the lessons of the site; `live` names the models that run in the browser.

    A lesson of which most steps need the app, or which is about a model that is missing, has no steps but a reason.

    Raises:
        LessonError: a claim does not hold, or an answer cannot be computed; the message names lesson and step.
    """
    return [_lesson(lesson, models, live) for lesson in lessons]


def _lesson(lesson: Lesson, models: Models, live: Collection[str]) -> LessonOnSite:
    needs = [_needs(step, models, live) for step in lesson.steps]
    why, steps = _why(lesson, needs, models), []
    if not why:
        steps = [_step(lesson, at, need, models) for at, need in enumerate(needs, start=1)]
        parts = [(step.question is not None) + 2 * (step.done is not None) for step in steps]
    else:
        parts = [(step.question is not None) + 2 * (step.done is not None) for step in lesson.steps]
    recap = [inline_html(sentence) for sentence in lesson.recap] if steps else []
    return LessonOnSite(
        lesson.name,
        lesson.title,
        lesson.about,
        lesson.minutes,
        lesson.language,
        parts,
        why,
        recap,
        steps,
        lesson.picture,
        lesson.after,
        lesson.age,
    )


def _why(lesson: Lesson, needs: Sequence[str], models: Models) -> str:
    """The reason why a lesson has no steps on the site; empty if it has them."""
    here = models.summaries()
    for step in lesson.steps:
        for names in () if step.missing(here) else _models_of(step):
            if not any(name in here for name in names):
                return t("This lesson needs the model {models}, which is not on this site.", models=listed(names, "or"))
    apart = sum(map(bool, needs))
    if 2 * apart > len(needs):
        return t(
            "This lesson needs the app: {apart} of its {n} pages use parts that only the app has.",
            apart=apart,
            n=len(needs),
        )
    return ""


def _models_of(step: Step) -> Iterator[tuple[str, ...]]:
    """The models that a step's link, text and expressions name, each as alternatives."""
    if step.link is not None and step.link.models:
        yield step.link.models
    question = step.question
    texts = [step.text, step.do, *([question.text, question.right, question.wrong] if question else [])]
    written = [read_expression(inside) for text in texts for inside in placeholders(text) if inside != "answer"]
    asked = [question.check, *(choice.expression for choice in question.choices)] if question else []
    for expression in [*written, *step.claims, *filter(None, asked)]:
        for term in expression.terms:
            if "model" in term.values:
                yield tuple(term.values["model"].split(","))


def _needs(step: Step, models: Models, live: Collection[str]) -> str:
    """What a step needs that the site does not have, as a sentence; empty if it needs nothing."""
    link, here = step.link, models.summaries()
    if step.missing(here):
        return t("This page needs the model {models}, which is not on this site.", models=listed(step.needs, "or"))
    if link is None or not link.page:
        return ""
    if link.page not in PAGES or (link.page == "inside" and link.tab not in TABS):
        page = translated(link.page.capitalize())
        if link.tab:
            tab = quoted(translated(link.tab))
            return t("The figure of this page is in the app only: page {page}, tab {tab}.", page=page, tab=tab)
        return t("The figure of this page is in the app only: page {page}.", page=page)
    model = link.model(here)
    if model in live:
        return ""
    return t("This page needs the model {model}, which does not run in the browser.", model=model)


def _step(lesson: Lesson, at: int, needs: str, models: Models) -> LessonStep:
    step = lesson.step(at)
    if step.missing(models.summaries()):
        return LessonStep(step.title, "", needs, "", {}, False, [], "", None, None)
    start = models.start_of(step)
    if problems := models.broken_claims(step, start):
        raise LessonError("Lesson {name}, step {at}: {problems}", name=lesson.name, at=at, problems=" ".join(problems))
    try:
        text, do = models.fill(step.text, start), models.fill(step.do, start)
        asked = step.question if step.question and _can_answer(step.question) else None
        question = _question(asked, f"{lesson.name}.{at}", start, models) if asked else None
    except TermError as error:
        raise LessonError(
            "Lesson {name}, step {at}: {problem}.", name=lesson.name, at=at, problem=str(error).removesuffix(".")
        ) from error
    page = step.link.page if step.link and not needs else ""
    can_check = page and step.done and not step.done.op and step.done.left.name in EXERCISES
    return LessonStep(
        title=step.title,
        text=html_of(text, terms=True),
        needs=needs or (translated(QUESTION_OF_APP) if step.question and not asked else ""),
        page=page,
        query=_query(step, start) if page else {},
        after=bool(page) and step.after,
        controls=list(step.controls),
        do="" if needs else inline_html(do),
        done=_term(step.done.left) if can_check and step.done else None,
        question=question,
    )


def _query(step: Step, start: Selection) -> dict[str, str]:
    """What the figure opens with: the parameters of the selection, and those of its page alone."""
    link = dict(step.link.query) if step.link else {}
    return link | {name: value for name, value in to_query(start).items() if name in ("model", "text") or name in link}


def _term(term: Term) -> LessonTerm:
    return LessonTerm(term.name, {name: value for name, value in term.written if name != "of"})


def _question(question: Question, salt: str, start: Selection, models: Models) -> LessonQuestion:
    here = question.check.left if question.check and question.is_about_the_readers else None
    accepted: list[str] = []
    number, within, answer = None, 0.0, ANSWER
    if here is None:
        solution = solve(question, lambda expression: models.evaluate(expression, start))
        answer = solution.text
        if solution.choice is not None:
            accepted = [hashed(salt, f"{solution.choice}")]
        elif isinstance(solution.value, str):
            accepted = [hashed(salt, bare(solution.value))]
        else:
            right = 100 * solution.value if question.style == "percent" else float(solution.value)
            within = tolerance(question, right)
            if within:
                number = right
            else:
                accepted = [hashed(salt, f"{right:.0f}")]
    explanation = models.fill(question.right, start, answer)
    shown = LessonSolution(answer, inline_html(explanation), opens_with(explanation, answer))
    return LessonQuestion(
        text=inline_html(models.fill(question.text, start)),
        choices=[inline_html(choice.text) for choice in question.choices],
        salt=salt,
        accepted=accepted,
        number=number,
        within=within,
        here=_term(here) if here else None,
        wrong=inline_html(models.fill(question.wrong, start, answer)),
        solution=sealed(salt, json.dumps(vars(shown), ensure_ascii=False)),
    )


def _can_answer(question: Question) -> bool:
    """Whether the browser can answer: one about the reader's own sentence only by a check that it computes itself."""
    check = question.check
    if not question.is_about_the_readers:
        return True
    return check is not None and not check.op and not question.choices and check.left.name in HERE
