"""What lessons are made of: expressions, answers, progress in a link, Markdown on paper, deeds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.lessons.answers import Solution, is_right, solve
from explorer.lessons.checks import CHECKS, Live, answer
from explorer.lessons.expressions import Expression, Term, TermError, as_number, compare, read_expression, shown
from explorer.lessons.handout import Paper, handout, summary
from explorer.lessons.lesson import Choice, Lesson, Question, Step
from explorer.lessons.markdown_html import html_of, inline_html
from explorer.screens.lessons.state import AT_ONCE, LATER, Given, Record, progress_text, read_progress
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


def test_progress_goes_through_a_link_and_nonsense_is_left_out() -> None:
    progress = (("attention", "10520"), ("masks", "000"), ("order", "4"))
    assert progress_text(progress) == "attention.1052~order.4"
    assert read_progress("attention.1052~order.4") == ({"attention": "1052", "order": "4"}, False)
    assert read_progress("") == ({}, False)
    for text in ("attention", "a.9", "a.1~<b>", "~", "a." + "1" * 40, "a.1~" * 900):
        assert read_progress(text)[1], text


def test_markdown_on_paper_is_escaped() -> None:
    made = html_of("A **b** and *c*, `<eos>` and [d](https://e.org/x).\n\n- one\n- two\n  more\n\n```\n<p>\n```\n1. z")
    assert "<strong>b</strong>" in made
    assert "<em>c</em>" in made
    assert "<code>&lt;eos&gt;</code>" in made
    assert '<a href="https://e.org/x" rel="noreferrer">d</a>' in made
    assert "<ul><li>one</li><li>two more</li></ul>" in made
    assert "<pre>&lt;p&gt;</pre>" in made
    assert "<ol><li>z</li></ol>" in made
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
        records={("one", 1): Record(AT_ONCE, True, Given(HOSTILE, 3)), ("one", 2): Record(LATER)},
        words={("one", 1): ("which?", "o"), ("one", 2): ("which?", "o")},
    ).decode()
    assert "<img" not in taken
    assert "1 right at once, 1 right later, 0 shown" in taken
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
def test_a_place_that_is_not_there_is_a_sentence(live: Live, name: str) -> None:
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
    with pytest.raises(TermError, match="has no answer for reverse and 'hello'"):
        answer(Term(name, written), live)
