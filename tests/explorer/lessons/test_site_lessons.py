"""The lessons of the site: every number and answer computed at build time, and no answer in plain sight."""

import dataclasses
import functools
import json
import re

import pytest

from explorer.browser.lesson_structs import LessonOnSite, LessonTerm
from explorer.lessons.answers import bare, solve
from explorer.lessons.expressions import as_number
from explorer.lessons.folder_models import models_in
from explorer.lessons.lesson import Lesson, LessonError
from explorer.lessons.lesson_file import parse_lesson, read_lesson
from explorer.lessons.library import FOLDER
from explorer.lessons.sealed import hashed, opened
from explorer.lessons.site_lessons import ANSWER, PAGES, site_lessons
from tests.paths import CHECKPOINTS

MODELS = models_in(CHECKPOINTS)
LIVE = [name for name in MODELS.summaries() if name != "reverse-lstm"]
LESSONS = {path.stem: read_lesson(path) for path in FOLDER.glob("*.md")}


@pytest.fixture(scope="module")
def shipped() -> dict[str, LessonOnSite]:
    return {lesson.name: lesson for lesson in site_lessons(list(LESSONS.values()), MODELS, LIVE)}


def written(name: str, step: str, front: str = 'model = "reverse"\ntext = "hello"') -> Lesson:
    text = f'+++\ntitle = "T"\nabout = "A"\nminutes = 1\n{front}\n+++\n{step}\n'
    return parse_lesson(text.encode(), f"{name}.md")


def made(step: str, live: list[str] = LIVE, **options: str) -> LessonOnSite:
    return site_lessons([written("own", f"## One\n\n{step}", **options)], MODELS, live)[0]


QUESTION = "Ask: ?\nCheck: {}\nRight: yes, {{answer}}\nWrong: no"


def test_a_step_of_another_page_keeps_text_and_question(shipped: dict[str, LessonOnSite]) -> None:
    step = shipped["masks"].steps[3]
    assert step.needs == "The figure of this page is in the app only: page Masks, tab “Given target”."
    assert (step.page, step.query, step.do, step.done) == ("", {}, "", None)
    assert step.question is not None
    assert "right there, in column 2" in step.text
    missing = shipped["heads"].steps[-1]
    assert missing.needs == "This page needs the model opus-en-de or opus-mt-en-de, which is not on this site."
    assert missing.question is None
    assert shipped["heads"].parts[-1] == 0


def test_every_text_is_filled_and_harmless(shipped: dict[str, LessonOnSite]) -> None:
    for lesson in shipped.values():
        for step in lesson.steps:
            assert step.needs or (step.page in PAGES and step.query["model"] in LIVE)
            question = step.question
            texts = [step.text, step.do, *lesson.recap]
            texts += [question.text, question.wrong, *question.choices] if question else []
            for text in texts:
                assert "{" not in text, lesson.name
                tags = set(re.findall(r"</?([a-z0-9]+)", text))
                assert tags <= {"p", "ul", "ol", "li", "em", "strong", "code", "pre", "a", "br"}, lesson.name
                assert all(re.match(r"(https?:|#term-)", link) for link in re.findall(r'href="([^"]*)"', text))
    assert '<a class="term" href="#term-query">' in json.dumps(dataclasses.asdict(shipped["queries"])).replace("\\", "")


@pytest.mark.parametrize("name", sorted(LESSONS))
def test_right_answers_are_those_of_the_app_and_not_legible(name: str, shipped: dict[str, LessonOnSite]) -> None:
    for at, step in enumerate(shipped[name].steps, start=1):
        given = LESSONS[name].step(at)
        if step.question is None or step.question.here:
            continue
        question, start = step.question, MODELS.start_of(given)
        assert given.question is not None
        solution = solve(given.question, functools.partial(MODELS.evaluate, start=start))
        shown = json.loads(opened(question.salt, question.solution))
        assert shown["answer"] == solution.text
        assert "{" not in shown["right"]
        if question.choices:
            assert question.accepted == [hashed(question.salt, f"{solution.choice}")]
        elif question.number is not None:
            number = as_number(solution.text)
            assert number is not None
            assert abs(question.number - number) <= question.within
        else:
            assert question.accepted == [hashed(question.salt, bare(solution.text).replace(",", ""))]
        plain = json.dumps(dataclasses.asdict(question), ensure_ascii=False)
        assert shown["right"] not in plain
        assert question.choices or question.number is not None or f'"{solution.text}"' not in plain


def test_a_question_about_the_readers_own_sentence_is_left_to_the_browser(shipped: dict[str, LessonOnSite]) -> None:
    question = shipped["attention"].steps[-1].question
    assert question is not None
    assert question.here == LessonTerm("predicted", {"row": "1"})
    assert question.accepted == []
    solution = json.loads(opened(question.salt, question.solution))
    assert solution["right"] == f"<code>{ANSWER}</code>, since it begins at the end."
    assert solution["opens"] is True
    weight = "weight kind=cross layer=1 head=1 row=1 key=1 of=here"
    left = made("Open: attention?kind=cross\n" + QUESTION.format(weight))
    assert left.steps[0].question is None
    assert (
        left.steps[0].needs == "The question of this step is about your own sentence, and only the app can answer it."
    )
    assert (left.steps[0].page, left.parts) == ("attention", [0])


def test_a_broken_claim_stops_the_build_with_a_sentence() -> None:
    with pytest.raises(
        LessonError, match=r"^Lesson own, step 1: translation == hello does not hold \(it is olleh\)\.$"
    ):
        made("Text.\n\nClaim: translation == hello")
    with pytest.raises(LessonError, match=r"^Lesson own, step 1: .* no answer for reverse .*row 99.*\.$"):
        made(QUESTION.format("predicted row=99"))


def test_what_the_site_cannot_show_or_check_is_left_out() -> None:
    elsewhere = made("Open: inside?tab=Sizes\nDo: look", front='model = "reverse"')
    assert elsewhere.why.startswith("This lesson needs the app: 1 of its 1 pages")
    slow = made("Open: translate\nDo: look\nDone: at step=2", live=["dates"])
    assert "needs the app" in slow.why
    gone = made("Open: translate", front='model = "nobody"\ntext = "x"')
    assert gone.why == "This lesson needs the model nobody, which is not on this site."
    trained = made("Open: translate\nDo: train one\nDone: trained")
    assert (trained.steps[0].do, trained.steps[0].done, trained.parts) == ("train one", None, [0])
    bare_step = made("Text.")
    assert (bare_step.steps[0].page, bare_step.steps[0].needs) == ("", "")
