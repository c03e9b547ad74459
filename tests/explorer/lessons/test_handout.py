"""Handouts and summaries on paper."""

from __future__ import annotations

from explorer.lessons.handout import Figure, Paper, handout, summary
from explorer.lessons.lesson import Lesson, Step
from explorer.lessons.progress import (
    Answer,
    Outcome,
    StepRecord,
)
from tests.explorer.lessons.examples import HOSTILE, asked


def test_paper_holds_words_figures_and_answers_as_text() -> None:
    question = asked("x", "h", "o")
    step = Step(HOSTILE, "t", 1, question=question, do="d")
    lesson = Lesson("one", HOSTILE, HOSTILE, 5, 1, (step, step))
    svg = b'<?xml version="1.0"?><svg><text>fig</text></svg>'
    papers = (Paper(step, "text", "do it", "which?", "because", "o", "page X", 1), Paper(step, "text", figure=1))
    figures = (Figure(svg, HOSTILE),)
    page = handout(lesson, papers, figures, answers=True).decode()
    assert "<img" not in page
    assert page.count("</script>") == 0
    assert "<svg><text>fig</text></svg>" in page
    assert "<strong>o</strong>. because" in page
    assert page.count("<svg>") == 1
    assert page.count("Look at figure 1.") == 2
    assert page.index("2. ") < page.index("<svg>") < page.index("because")
    assert "because" not in handout(lesson, papers, figures, answers=False).decode()
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
