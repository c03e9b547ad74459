"""Lesson files: what is read from them, and the message with file and line for a broken one."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.lessons.checks import CHECKS
from explorer.lessons.expressions import Expression, Term
from explorer.lessons.lesson import LessonError
from explorer.lessons.lesson_file import MAX_BYTES, MAX_STEPS, parse_lesson, read_lesson
from explorer.lessons.lesson_format import LABELS
from tests.paths import ROOT

FRONT = '+++\ntitle = "Eins"\nabout = "Über ein Modell."\nminutes = 5\nmodel = "reverse"\ntext = "hello"\n+++\n'
STEP = """
## Ein Schritt

Das Modell sagt `{translation}`.

Open: attention?kind=cross&layer=1&head=1&step=2
Do: Go to step 3,
with the arrow key.
Done: at step=3
Ask: Which letter?
- h
- o
Check: strongest_key kind=cross layer=1 head=1 row=1
Right: It is `{answer}`.
Wrong: Look again.
Claim: translation == olleh
"""


def parsed(body: str, front: str = FRONT):  # type: ignore[no-untyped-def]
    return parse_lesson((front + body).encode(), "eins.md")


def test_everything_that_a_file_says_is_read() -> None:
    lesson = parsed(STEP + "\n## Zwei\n\nNur Text.\n")
    assert (lesson.name, lesson.title, lesson.about, lesson.minutes, len(lesson.steps)) == (
        "eins",
        "Eins",
        "Über ein Modell.",
        5,
        2,
    )
    step = lesson.step(1)
    assert (step.title, step.line, step.text) == ("Ein Schritt", 9, "Das Modell sagt `{translation}`.")
    assert step.do == "Go to step 3, with the arrow key."
    assert step.done == Expression(Term("at", (("step", "3"),)))
    assert step.link is not None
    assert (step.link.page, step.link.models, step.link.text) == ("attention", ("reverse",), "hello")
    assert step.link.selection({"reverse": 1}).step == 2
    question = step.question
    assert question is not None
    assert [choice.text for choice in question.choices] == ["h", "o"]
    assert (question.right, question.wrong) == ("It is `{answer}`.", "Look again.")
    assert step.claims == (Expression(Term("translation"), "==", "olleh"),)
    assert lesson.step(2).question is None


def test_another_model_in_the_link_and_the_first_of_several() -> None:
    lesson = parsed("\n## A\n\nOpen: translate?model=new,dates&text=3+may\n")
    link = lesson.step(1).link
    assert link is not None
    assert link.model({"dates": 1}) == "dates"
    assert link.model({"dates": 1, "new": 1}) == "new"
    assert link.model({}) == "new"


def test_windows_line_ends_and_a_byte_order_mark() -> None:
    content = b"\xef\xbb\xbf" + (FRONT + STEP).replace("\n", "\r\n").encode()
    assert parse_lesson(content, "eins.md") == parsed(STEP)


BROKEN = {
    "no front matter": ("## A\n", "", 1, "begins with a line"),
    "front matter without end": ("", "+++\ntitle = 1\n", 1, "no second line"),
    "front matter is not TOML": ("", '+++\ntitle = "A\n+++\n', 2, "not TOML"),
    "unknown entry": ("", FRONT.replace("minutes", "minuten"), 4, "unknown field `minuten`"),
    "entry of the wrong kind": ("", FRONT.replace("= 5", '= "5"'), 4, "at 'minutes': expected `int`, got `str`"),
    "entry is missing": ("\n## A\n", FRONT.replace("minutes = 5\n", ""), 6, "missing required field `minutes`"),
    "no step": ("\n", FRONT, 8, "there is no step"),
    "text before the first step": ("\nHello\n", FRONT, 9, "text before the first step"),
    "text after a label": ("\n## A\n\nDo: this\n\nand that\n", FRONT, 13, "text after 'Do:'"),
    "label twice": ("\n## A\n\nDo: this\nDo: that\n", FRONT, 12, "only one 'Do:'"),
    "empty label": ("\n## A\n\nDo:\n", FRONT, 11, "nothing after 'Do:'"),
    "unknown page": ("\n## A\n\nOpen: home?step=1\n", FRONT, 11, "there is no page 'home'"),
    "parameter makes no sense": ("\n## A\n\nOpen: translate?step=x\n", FRONT, 11, "step is not a whole number"),
    "unknown parameter": ("\n## A\n\nOpen: translate?steps=1\n", FRONT, 11, "unknown parameter steps"),
    "unknown check": ("\n## A\n\nClaim: weigth row=1 == 1\n", FRONT, 11, "there is no check 'weigth'"),
    "check without a parameter": ("\n## A\n\nClaim: predicted == a\n", FRONT, 11, "predicted needs row"),
    "parameter of the wrong kind": ("\n## A\n\nClaim: predicted row=one == a\n", FRONT, 11, "is a number, not 'one'"),
    "parameter with another name": ("\n## A\n\nClaim: predicted line=1 == a\n", FRONT, 11, "has no parameter line"),
    "no such kind": (
        "\n## A\n\nClaim: keys_open kind=self row=1 == 1\n",
        FRONT,
        11,
        "one of encoder, decoder, cross",
    ),
    "open quotation mark": ('\n## A\n\nClaim: translation == "olleh\n', FRONT, 11, "quotation mark"),
    "no such exercise or check": ("\n## A\n\nDo: x\nDone: dance\n", FRONT, 12, "there is no check 'dance'"),
    "exercise with another parameter": ("\n## A\n\nDo: x\nDone: at where=1\n", FRONT, 12, "no parameter where"),
    "done without do": ("\n## A\n\nDone: at step=1\n", FRONT, 11, "without 'Do:'"),
    "check without question": ("\n## A\n\nCheck: translation\n", FRONT, 11, "'Check:' without 'Ask:'"),
    "question without an explanation": (
        "\n## A\n\nAsk: x\nCheck: translation\nRight: y\n",
        FRONT,
        11,
        "has no 'Wrong:'",
    ),
    "one choice": (
        "\n## A\n\nAsk: x\n- a\nCheck: translation\nRight: y\nWrong: z\n",
        FRONT,
        11,
        "at 'choices': expected `array` of length >= 2",
    ),
    "same choice": ("\n## A\n\nAsk: x\n- a\n- a\nCheck: translation\nRight: y\nWrong: z\n", FRONT, 11, "the same"),
    "comparison with three choices": (
        "\n## A\n\nAsk: x\n- a\n- b\n- c\nCheck: tokens side=source > 1\nRight: y\nWrong: z\n",
        FRONT,
        15,
        "answered by two choices",
    ),
    "largest without expressions": (
        "\n## A\n\nAsk: x\n- a\n- b\nCheck: largest\nRight: y\nWrong: z\n",
        FRONT,
        14,
        "each have an expression",
    ),
    "held back without a question": ("\n## A\n\nThen open: translate\n", FRONT, 11, "there is no 'Ask:'"),
    "two links": ("\n## A\n\nOpen: translate\nThen open: translate\nAsk: x\n", FRONT, 12, "not both"),
    "HTML": ("\n## A\n\nfine\nnot <b>fine</b>\n", FRONT, 12, "without HTML"),
    "a picture": ("\n## A\n\n![x](http://a/b.png)\n", FRONT, 11, "without HTML"),
    "a script in a link": ("\n## A\n\n[x](javascript:alert(1))\n", FRONT, 11, "without HTML"),
    "a number that nobody can compute": ("\n## A\n\nIt is {magic}.\n", FRONT, 11, "there is no check 'magic'"),
    "the answer before the answer": ("\n## A\n\nIt is {answer}.\n", FRONT, 11, "there is no check 'answer'"),
    "too many steps": ("\n## A\n" * (MAX_STEPS + 1), FRONT, 9 + 2 * MAX_STEPS, "at most 30 steps"),
    "a mark that reorders text": ("\n## A\n\nDo: this\u202e\n", FRONT, 11, "marks that reorder text"),
    "the same in a heading": ("\n## A\u202e\n", FRONT, 9, "marks that reorder text"),
    "the same in the front matter": ("", FRONT.replace("hello", "hel\u202elo"), 6, "marks that reorder text"),
    "a control character in a choice": (
        "\n## A\n\nAsk: x\n- a\x07\n- b\nCheck: tokens side=source > 1\nRight: y\nWrong: z\n",
        FRONT,
        11,
        "control characters",
    ),
    "a tolerance below zero": (
        "\n## A\n\nAsk: x\nCheck: tokens side=source\nWithin: -1\nRight: y\nWrong: z\n",
        FRONT,
        13,
        "at 'Within': expected `float` >= 0.0",
    ),
    "a tolerance that is a word": (
        "\n## A\n\nAsk: x\nCheck: tokens side=source\nWithin: two\nRight: y\nWrong: z\n",
        FRONT,
        13,
        "'two' is not a number",
    ),
    "a control that there is not": ("\n## A\n\nControls: steps, knobs\n", FRONT, 11, "invalid enum value 'knobs'"),
    "a claim that is too long": ("\n## A\n\nClaim: " + "a" * 5000 + "\n", FRONT, 11, "at most 500 characters"),
    "a long text": ("\n## A\n\n" + "word " * 1000, FRONT, 9, "at 'text': expected `str` of length <= 4000"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named_with_its_line(case: str) -> None:
    body, front, line, said = BROKEN[case]
    with pytest.raises(LessonError) as refused:
        parsed(body, front)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"eins.md, line {line}: ")
    assert str(refused.value).endswith(".")
    assert not str(refused.value).endswith("..")


def test_other_files_that_are_not_lessons(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match=r"at most 100,000 bytes; this one has more"):
        parse_lesson(b" " * (MAX_BYTES + 1), "eins.md")
    with pytest.raises(LessonError, match=r"line 2: the file is not UTF-8"):
        parse_lesson(b"+++\n\xff", "eins.md")
    with pytest.raises(LessonError, match="lowercase letters"):
        parse_lesson((FRONT + STEP).encode(), "Eins Zwei.md")
    with pytest.raises(LessonError, match="cannot be read"):
        read_lesson(tmp_path / "none.md")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_lesson_or_refused_with_a_message(content: bytes) -> None:
    _try(content)


PIECES = st.sampled_from(
    [
        *(f"{label}: " for label in LABELS),
        "## A\n",
        "- ",
        "\n",
        "\n\n",
        "+++\n",
        "translation",
        "at step=1",
        "{",
        "}",
        "`",
    ]
    + ["attention?step=1", "largest", "==", "<", "1", '"', "=", "row=", *sorted(CHECKS)[:6], "ä", "\x00", "<b>", " :: "]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_any_order_of_the_parts_of_lessons(pieces: list[str]) -> None:
    _try((FRONT + "\n## A\n" + "".join(pieces)).encode())


def _try(content: bytes) -> None:
    with contextlib.suppress(LessonError):  # it may or may not be valid; only other exceptions are failures
        assert parse_lesson(content, "eins.md").steps
        return
    with pytest.raises(LessonError, match=r"^eins\.md(, line \d+)?: "):
        parse_lesson(content, "eins.md")


def test_every_check_says_what_it_answers() -> None:
    """docs/lessons.md has a table of these sentences."""
    for name, check in CHECKS.items():
        assert (check.function.__doc__ or "").split("\n")[0].endswith("."), name


def test_the_documentation_explains_every_label() -> None:
    text = (ROOT / "docs" / "lessons.md").read_text(encoding="utf-8")
    labels = text[text.index("| label | what follows it |") :]
    labels = labels[: labels.index("\n\n")]
    assert [label for label in LABELS if f"`{label}`" not in labels] == []
