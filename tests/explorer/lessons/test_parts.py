"""The parts of lessons: expressions, answers, progress in a link, exercises, Markdown for handouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.lessons.answers import Solution, is_right, solve
from explorer.lessons.checks import CHECKS, Live, answer
from explorer.lessons.evaluation import Models, broken_claims, evaluate, fill
from explorer.lessons.expressions import Expression, Term, TermError, as_number, compare, read_expression, shown
from explorer.lessons.feedback import feedback, with_answer
from explorer.lessons.handout import Paper, handout, summary
from explorer.lessons.lesson import Choice, Lesson, Question, Step
from explorer.lessons.library import Library, lesson_files, read_library
from explorer.lessons.markdown_html import html_of, inline_html
from explorer.lessons.progress import (
    Answer,
    LessonPosition,
    Outcome,
    Progress,
    StepRecord,
    read_position,
    read_progress,
)
from explorer.translation.selection import Selection
from explorer.translation.translator import Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.folder import summarize
from tests.paths import ROOT


def test_expressions() -> None:
    assert read_expression("translation") == Expression(Term("translation"))
    found = read_expression('probability row=2 token="a b" >= 0.5')
    assert found == Expression(Term("probability", (("row", "2"), ("token", "a b"))), ">=", 0.5)
    assert read_expression("predicted row=1 == je").right == "je"
    assert read_expression("translation == translation()").right == Term("translation")
    assert read_expression("reads row=2 == predicted row=1").right == Term("predicted", (("row", "1"),))
    for broken in ("", "row=1", "a b", "a < b < c", "< 1", "a <", "a x=1 x=2", 'a b="', "A", "a" * 501):
        with pytest.raises(TermError):
            read_expression(broken)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        found = read_expression(text)
    except TermError as refused:
        said = str(refused)
    else:
        said = str(found)
    assert said


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), ("0,25", 0.25), (" 62 % ", 62), ("-1.5", -1.5), ("−1", -1), ("x", None), ("1e5", None), ("nan", None)]
    + [("", None), ("٣", None), ("1" * 400, None), ("%", None)],
)
def test_numbers_as_people_write_them(text: str, number: float | None) -> None:
    assert as_number(text) == number


def test_comparisons() -> None:
    assert compare(0.1 + 0.2, "==", 0.3)
    assert compare("Je", "==", "je ")
    assert compare("a", "!=", "b")
    assert compare(1.0, "<=", 1.0)
    assert not compare(2.0, "<", 1.0)
    with pytest.raises(TermError, match="compares words"):
        compare("a", "<", "b")
    assert [shown(0.123), shown(0.5, "percent"), shown(2.0), shown(1.256, "2"), shown(True)] == [
        "0.123",
        "50 %",
        "2",
        "1.26",
        "yes",
    ]


def asked(check: str, *choices: str, within: float | None = None) -> Question:
    return Question("?", tuple(map(Choice, choices)), read_expression(check), "", "yes", "no", within)


@pytest.mark.parametrize(
    ("value", "question", "right", "wrong"),
    [
        (0.987, asked("x as=percent"), ["99", "99 %", "98.7"], ["0.987", "97", "x", ""]),
        (0.987, asked("x as=percent", within=3), ["96", "101"], ["95"]),
        (3.0, asked("x"), ["3", "3.0", " 3 "], ["3.1", "three"]),
        (4.664, asked("x as=2"), ["4.66", "4,66"], ["4.6"]),
        ("olleh", asked("x"), ["olleh", "`OLLEH`", ' "olleh". '], ["hello", "o"]),
        ("<sos>", asked("x"), ["<sos>"], ["sos"]),
    ],
)
def test_typed_answers(value: str | float, question: Question, right: list[str], wrong: list[str]) -> None:
    solution = solve(question, lambda _: value)
    assert all(is_right(question, solution, text) for text in right)
    assert not any(is_right(question, solution, text) for text in wrong)


def test_chosen_answers() -> None:
    letters = asked("x", "h", "`o`")
    assert solve(letters, lambda _: "o") == Solution("o", 1, "o")
    assert is_right(letters, solve(letters, lambda _: "o"), "`o`")
    assert solve(asked("x", "About 50", "About 2"), lambda _: 2.0).choice == 1
    assert solve(asked("x > 1", "Yes", "No"), lambda _: False).text == "No"
    with pytest.raises(TermError, match="not exactly one of the choices"):
        solve(letters, lambda _: "e")
    compared = tuple(Choice(name, Expression(Term(name))) for name in "ab")
    numbers = {"a": 1.0, "b": 2.0}
    largest = Question("?", compared, None, "largest")
    assert solve(largest, lambda one: numbers[one.left.name]).text == "b"
    with pytest.raises(TermError, match="equally right"):
        solve(largest, lambda _: 1.0)


def lesson_of(n_steps: int, name: str = "attention") -> Lesson:
    """A lesson whose steps each have a question and an exercise, except the last one, which has neither."""
    step = Step("One", "text", 1, question=asked("x"), do="look")
    return Lesson(name, "Title", "About", 5, 1, (*(step,) * (n_steps - 1), Step("Last", "text", 9)))


def test_progress_survives_a_link_and_invalid_parts_are_dropped() -> None:
    progress = Progress((("attention", "10520"), ("masks", "000"), ("order", "4")))
    assert progress.in_link() == "attention.1052~order.4"
    assert read_progress("attention.1052~order.4") == (Progress((("attention", "1052"), ("order", "4"))), False)
    assert read_progress("") == (Progress(), False)
    for text in ("attention", "a.9", "a.1~<b>", "~", "a." + "1" * 40, "a.1~" * 900):
        assert read_progress(text)[1], text
    assert Progress(tuple((f"lesson-{i}", "1" * 30) for i in range(100))).in_link() == ""


def test_progress_keeps_the_first_outcome_and_counts_complete_steps() -> None:
    lesson = lesson_of(3)
    progress = Progress()
    assert progress.steps_complete(lesson) == 1
    assert not progress.has_begun("attention")
    progress = progress.with_outcome("attention", 2, Outcome.LATER).with_outcome("attention", 2, Outcome.SHOWN)
    assert progress.codes == (("attention", "02"),)
    assert not progress.is_complete(lesson, 2)
    progress = progress.with_exercise_done("attention", 2)
    assert (progress.outcome("attention", 2), progress.is_done("attention", 2)) == (Outcome.LATER, True)
    assert progress.is_complete(lesson, 2)
    assert progress.has_begun("attention")
    assert (progress.steps_complete(lesson), progress.first_open_step(lesson)) == (2, 1)
    everything = progress.with_outcome("attention", 1, Outcome.SHOWN).with_exercise_done("attention", 1)
    assert (everything.steps_complete(lesson), everything.first_open_step(lesson)) == (3, 1)
    assert progress.outcome("attention", 1) == Outcome.UNANSWERED
    assert progress.merged({"attention": "5"}).codes == (("attention", "5"),)


def test_a_position_is_read_from_a_link_and_written_back() -> None:
    library = Library((lesson_of(3),))
    query = {"lesson": "attention", "at": "2", "done": "attention.1", "present": "1"}
    position, problems = read_position(query, library, LessonPosition(progress=Progress((("masks", "4"),))))
    assert not problems
    assert position == LessonPosition("attention", 2, Progress((("attention", "1"), ("masks", "4"))), True)
    assert position.query(lessons_page=False) == {**query, "done": "attention.1~masks.4"}
    away = LessonPosition(progress=position.progress)
    assert away.query(lessons_page=True) == {"done": "attention.1~masks.4"}
    assert away.query(lessons_page=False) == {}
    for broken, said, where in (
        ({"lesson": "nothing"}, "There is no lesson 'nothing'", ("", 1)),
        ({"lesson": "attention", "at": "4"}, "steps 1 to 3, not '4'", ("attention", 1)),
        ({"lesson": "attention", "at": "²"}, "steps 1 to 3", ("attention", 1)),
        ({"lesson": "attention", "done": "<b>"}, "unreadable", ("attention", 1)),
    ):
        found, (problem,) = read_position(broken, library, LessonPosition())
        assert said in problem
        assert (found.lesson, found.step) == where


def test_a_library_is_in_order_and_names_what_is_broken(tmp_path: Path) -> None:
    front = '+++\ntitle = "{0}"\nabout = "b"\nminutes = 1\norder = {1}\n+++\n## One\n\ntext\n'
    (tmp_path / "a.md").write_text(front.format("Second", 2), encoding="utf-8")
    (tmp_path / "b.md").write_text(front.format("First", 1), encoding="utf-8")
    (tmp_path / "c.md").write_text("no lesson", encoding="utf-8")
    library = read_library(lesson_files(tmp_path))
    assert [lesson.title for lesson in library.lessons] == ["First", "Second"]
    assert library.problems == (read_library([tmp_path / "c.md"]).problems[0],)
    assert library.problems[0].startswith("c.md, line 1:")
    found = library.find("a")
    assert found
    assert found.title == "Second"
    assert library.find("c") is None


def test_expressions_are_computed_with_the_models_at_hand() -> None:
    asked_for: list[tuple[str, str, tuple[int, ...]]] = []

    def check(model: str, text: str, path: tuple[int, ...], term: Term) -> float:
        asked_for.append((model, text, path))
        return float(len(text))

    models = Models({"reverse": {}, "copy": {}}, lambda model, text: (7,), check)
    start, here = Selection(model="reverse", text="hello", path=(1,)), Selection(model="reverse", text="ab")
    assert evaluate(read_expression("x"), models, start) == 5.0
    assert evaluate(read_expression("x of=here < x()"), models, start, here) is True
    assert evaluate(read_expression("x model=none,copy after=y"), models, start) == 5.0
    assert asked_for == [
        ("reverse", "hello", (1,)),
        ("reverse", "ab", ()),
        ("reverse", "hello", (1,)),
        ("copy", "hello", (7,)),
    ]
    with pytest.raises(TermError, match="needs the model none, which is not here"):
        evaluate(read_expression("x model=none"), models, start)


def test_placeholders_are_replaced_and_escaped_and_claims_that_fail_are_named() -> None:
    def value_of(expression: Expression) -> str | float | bool:
        if expression.left.name == "broken":
            raise TermError("no such row.")
        return compare(2.0, expression.op, expression.right) if isinstance(expression.right, float) else "a`*b"

    assert fill("{x} `{x}` `{ x }` {answer}", value_of, "16") == r"a\`\*b `aˋ*b` `{ x }` 16"
    claims = tuple(map(read_expression, ("x == 2", "x > 2", "broken > 1")))
    assert broken_claims(Step("t", "", 1, claims=claims), value_of) == [
        "x > 2.0 does not hold (it is a`*b).",
        "no such row.",
    ]


def test_feedback_says_the_answer_once() -> None:
    assert with_answer("Right", "16", "16.") == "Right: 16."
    assert with_answer("Right", "No", "No, it says `x`.") == "Right: No, it says `x`."
    assert with_answer("Right", "`O`", "`o`, the last letter.") == "Right: `o`, the last letter."
    assert with_answer("Right", "1", "10 of them.") == r"Right: 1. 10 of them."
    assert with_answer("Right", "1", "1.5 of them.") == "Right: 1. 1.5 of them."
    assert with_answer("Right", "No", "Not at all.") == "Right: No. Not at all."
    question = Question("?", (), read_expression("x"), "", "{answer}: all of it.", "Look again.")
    solution = Solution("16", None, 16.0)

    def say(outcome: Outcome, answer: Answer | None) -> list[tuple[str, str]]:
        record = StepRecord(outcome, False, answer)
        made = feedback(question, solution, record, lambda text, answer: text.replace("{answer}", answer))
        return [(message.tone, message.text) for message in made]

    assert say(Outcome.UNANSWERED, None) == []
    assert say(Outcome.UNANSWERED, Answer("*3*", 1)) == [("wrong", r"Not quite: you answered \*3\*. Look again.")]
    assert say(Outcome.FIRST_TRY, Answer("16", 1)) == [("right", "Right: 16: all of it.")]
    assert say(Outcome.SHOWN, Answer("3", 1))[1] == ("neutral", "The answer: 16: all of it.")
    assert say(Outcome.LATER, None) == [("neutral", "You had it right: 16: all of it.")]


def test_markdown_on_paper_is_escaped() -> None:
    made = html_of("A **b** and *c*, `<eos>` and [d](https://e.org/x).\n\n- one\n- two\n  more\n\n```\n<p>\n```\n1. z")
    made = " ".join(made.split())
    assert "<strong>b</strong>" in made
    assert "<em>c</em>" in made
    assert "<code>&lt;eos&gt;</code>" in made
    assert '<a href="https://e.org/x" rel="noreferrer">d</a>' in made
    assert "<ul> <li>one</li> <li>two more</li> </ul>" in made
    assert "<pre>&lt;p&gt;</pre>" in made
    assert "<ol> <li>z</li> </ol>" in made
    for link in ("[x](javascript:alert(1))", "[x](data:text/html,a)", "[x](/train)", "![i](https://e.org/x)"):
        assert "href" not in html_of(link).replace('href="https://e.org/x"', "")
        assert "<img" not in html_of(link)
    assert inline_html(r"0\.5 \*x\* \<b\>") == "0.5 *x* &lt;b&gt;"


@given(st.text(max_size=80))
def test_no_text_becomes_markup_on_paper(text: str) -> None:
    made = html_of(text + "<script>x</script>")
    assert "<script" not in made.lower()
    assert "<img" not in made.lower()


HOSTILE = "<img src=x onerror=alert(1)></script>"


def test_paper_holds_words_figures_and_answers_as_text() -> None:
    question = asked("x", "h", "o")
    step = Step(HOSTILE, "t", 1, question=question, do="d")
    lesson = Lesson("one", HOSTILE, HOSTILE, 5, 1, (step, step))
    svg = b'<?xml version="1.0"?><svg><text>fig</text></svg>'
    papers = (Paper(step, "text", "do it", "which?", "because", "o", "page X", svg, HOSTILE), Paper(step, "text"))
    page = handout(lesson, papers, answers=True).decode()
    assert "<img" not in page
    assert page.count("</script>") == 0
    assert "<svg><text>fig</text></svg>" in page
    assert "<strong>o</strong>. because" in page
    assert "because" not in handout(lesson, papers, answers=False).decode()
    taken = summary(
        (lesson,),
        who=HOSTILE,
        when="2026-01-01",
        records={
            ("one", 1): StepRecord(Outcome.FIRST_TRY, True, Answer(HOSTILE, 3)),
            ("one", 2): StepRecord(Outcome.LATER),
        },
        texts={("one", 1): ("which?", "o"), ("one", 2): ("which?", "o")},
    ).decode()
    assert "<img" not in taken
    assert "2 questions: 1 right at the first try, 1 right after more tries, 0 shown" in taken
    assert "3 tries" in taken


@pytest.fixture(scope="module")
def live() -> Live:
    folder = ROOT / "checkpoints" / "reverse"
    translator = Translator(load_model(folder))
    return Live(translator, translator.translate("hello", DecodeConfig()), summarize(folder))


def test_checks_agree_with_the_trace(live: Live) -> None:
    trace = live.shown.trace
    place = (("kind", "cross"), ("layer", "1"), ("head", "2"), ("row", "3"))
    assert answer(Term("weight", (*place, ("key", "2"))), live) == pytest.approx(trace.cross[0, 1, 2, 1])
    assert answer(Term("strongest_position", place), live) == trace.cross[0, 1, 2].argmax() + 1
    mean = (("kind", "cross"), ("layer", "1"), ("head", "0"), ("row", "3"), ("key", "2"))
    assert answer(Term("weight", mean), live) == pytest.approx(trace.cross[0, :, 2, 1].mean())
    assert answer(Term("keys_open", (("kind", "decoder"), ("row", "4"))), live) == 4
    assert answer(Term("source", (("key", "6"),)), live) == "<eos>"
    one = answer(Term("tempered", (("row", "1"), ("temperature", "1"))), live)
    assert one == pytest.approx(float(trace.probabilities[0]), abs=1e-5)
    raw, scaled = (answer(Term("score", (*place, ("key", "2"), ("form", form))), live) for form in ("raw", "scaled"))
    assert raw == pytest.approx(float(scaled) * 32**0.5, rel=1e-4)


@pytest.mark.parametrize("name", CHECKS)
def test_a_place_that_is_not_there_gets_a_message(live: Live, name: str) -> None:
    samples = {"kind": "cross", "count": "99", "number": "2", "heads": "cross.9.9", "word": "nothing"}
    check = CHECKS[name]
    written = tuple((key, samples.get(kind, kind.split("|")[0])) for key, kind in check.needs.items())
    if not check.needs or name in (
        "tokens",
        "heads",
        "head_size",
        "masked_cells",
        "masked_weight",
        "curve",
        "card_says",
    ):
        assert answer(Term(name, written), live) is not None
        return
    with pytest.raises(TermError, match="has no answer for reverse and “hello”"):
        answer(Term(name, written), live)
