"""Lesson files: what is read from them, and the message with file and line for a broken one."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.lessons.checks import CHECKS
from explorer.lessons.expressions import Expression, Term
from explorer.lessons.lesson import LessonError
from explorer.lessons.lesson_file import MAX_BYTES, MAX_STEPS, parse_lesson, read_lesson
from explorer.lessons.lesson_format import LABELS
from tests.fuzz.inputs import tries
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


def parsed(body: str, front: str = FRONT):
    return parse_lesson((front + body).encode(), "eins.md")


def test_everything_that_a_file_says_is_read() -> None:
    lesson = parsed(STEP + "\n## Zwei\n\nOpen: translate?model=new,dates&text=3+may\n")
    assert (lesson.name, lesson.title, lesson.about, lesson.minutes) == ("eins", "Eins", "Über ein Modell.", 5)
    step, second = lesson.steps
    assert (step.title, step.line, step.text) == ("Ein Schritt", 9, "Das Modell sagt `{translation}`.")
    assert step.do == "Go to step 3, with the arrow key."
    assert step.done == Expression(Term("at", (("step", "3"),)))
    assert (step.link.page, step.link.models, step.link.text) == ("attention", ("reverse",), "hello")
    assert step.link.selection({"reverse": 1}).step == 2
    assert [choice.text for choice in step.question.choices] == ["h", "o"]
    assert (step.question.right, step.question.wrong) == ("It is `{answer}`.", "Look again.")
    assert step.claims == (Expression(Term("translation"), "==", "olleh"),)
    assert second.question is None
    here: tuple[dict[str, int], ...] = ({"dates": 1}, {"dates": 1, "new": 1}, {})
    assert [second.link.model(models) for models in here] == ["dates", "new", "new"], "the first of several"
    windows = b"\xef\xbb\xbf" + (FRONT + STEP).replace("\n", "\r\n").encode()
    assert parse_lesson(windows, "eins.md") == parsed(STEP)


A = "\n## A\n\n"
END = "\nRight: y\nWrong: z\n"
COUNTED = "Check: tokens side=source\n"
COUNT = "Check: tokens side=source > 1"
BROKEN = {
    "no step": ("\n", 8, "there is no step"),
    "text before the first step": ("\nHello\n", 9, "text before the first step"),
    "text after a label": (A + "Do: this\n\nand that\n", 13, "text after 'Do:'"),
    "label twice": (A + "Do: this\nDo: that\n", 12, "can have only one 'Do:'"),
    "empty label": (A + "Do:\n", 11, "nothing after 'Do:'"),
    "unknown page": (A + "Open: home?step=1\n", 11, "there is no page 'home'"),
    "parameter makes no sense": (A + "Open: translate?step=x\n", 11, "step is not a whole number"),
    "unknown parameter": (A + "Open: translate?steps=1\n", 11, "an unknown parameter steps"),
    "unknown check": (A + "Claim: weigth row=1 == 1\n", 11, "there is no check 'weigth'"),
    "check without a parameter": (A + "Claim: predicted == a\n", 11, "predicted needs row"),
    "parameter of the wrong kind": (A + "Claim: predicted row=one == a\n", 11, "is a number, not 'one'"),
    "parameter with another name": (A + "Claim: predicted line=1 == a\n", 11, "has no parameter line"),
    "no such kind": (A + "Claim: keys_open kind=self row=1 == 1\n", 11, "one of encoder, decoder, cross"),
    "open quotation mark": (A + 'Claim: translation == "olleh\n', 11, "quotation mark"),
    "exercise with another parameter": (A + "Do: x\nDone: at where=1\n", 12, "no parameter where"),
    "done without do": (A + "Done: at step=1\n", 11, "without 'Do:'"),
    "check without question": (A + "Check: translation\n", 11, "'Check:' stands without 'Ask:'"),
    "question without an explanation": (A + "Ask: x\nCheck: translation\nRight: y\n", 11, "has no 'Wrong:'"),
    "one choice": (A + "Ask: x\n- a\nCheck: translation" + END, 11, "at 'choices': expected `array` of length >= 2"),
    "same choice": (A + "Ask: x\n- a\n- a\nCheck: translation" + END, 11, "the same"),
    "comparison with three choices": (A + "Ask: x\n- a\n- b\n- c\n" + COUNT + END, 15, "answered by two choices"),
    "largest without expressions": (A + "Ask: x\n- a\n- b\nCheck: largest" + END, 14, "each have an expression"),
    "held back without a question": (A + "Then open: translate\n", 11, "there is no 'Ask:'"),
    "two links": (A + "Open: translate\nThen open: translate\nAsk: x\n", 12, "not both"),
    "HTML": (A + "fine\nnot <b>fine</b>\n", 12, "without HTML"),
    "a picture": (A + "![x](http://a/b.png)\n", 11, "without HTML"),
    "a script in a link": (A + "[x](javascript:alert(1))\n", 11, "without HTML"),
    "the answer before the answer": (A + "It is {answer}.\n", 11, "there is no check 'answer'"),
    "a mark that reorders text": (A + "Do: this\u202e\n", 11, "marks that reorder text"),
    "a control character in a choice": (A + "Ask: x\n- a\x07\n- b\n" + COUNT + END, 11, "control characters"),
    "a tolerance below zero": (
        A + "Ask: x\n" + COUNTED + "Within: -1" + END,
        13,
        "at 'Within': expected `float` >= 0.0",
    ),
    "a tolerance that is a word": (A + "Ask: x\n" + COUNTED + "Within: two" + END, 13, "'two' is not a number"),
    "a control that there is not": (A + "Controls: steps, knobs\n", 11, "invalid enum value 'knobs'"),
    "too many steps": ("\n## A\n" * (MAX_STEPS + 1), 9 + 2 * MAX_STEPS, "at most 30 steps"),
    "a claim that is too long": (A + "Claim: " + "a" * 5000 + "\n", 11, "at most 500 characters"),
    "a long text": (A + "word " * 1000, 9, "at 'text': expected `str` of length <= 4000"),
}
# The whole file, where it is broken before the first step.
BROKEN_FRONTS = {
    "no front matter": ("## A\n", 1, "begins with a line"),
    "front matter without end": ("+++\ntitle = 1\n", 1, "no second line"),
    "front matter is not TOML": ('+++\ntitle = "A\n+++\n', 2, "not TOML"),
    "entry of the wrong kind": (FRONT.replace("= 5", '= "5"'), 4, "at 'minutes': expected `int`, got `str`"),
    "entry is missing": (FRONT.replace("minutes = 5\n", "") + A, 6, "missing required field `minutes`"),
}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [*((FRONT + body, line, said) for body, line, said in BROKEN.values()), *BROKEN_FRONTS.values()],
    ids=[*BROKEN, *BROKEN_FRONTS],
)
def test_a_broken_file_is_named_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(LessonError) as refused:
        parse_lesson(text.encode(), "eins.md")
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"eins.md, line {line}: ")
    assert str(refused.value).rstrip(".") + "." == str(refused.value)


def test_other_files_that_are_not_lessons(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match=r"at most 100,000 bytes; this one has more"):
        parse_lesson(b" " * (MAX_BYTES + 1), "eins.md")
    with pytest.raises(LessonError, match=r"line 2: the file is not UTF-8"):
        parse_lesson(b"+++\n\xff", "eins.md")
    with pytest.raises(LessonError, match="lowercase letters"):
        parse_lesson((FRONT + STEP).encode(), "Eins Zwei.md")
    with pytest.raises(LessonError, match="cannot be read"):
        read_lesson(tmp_path / "none.md")


PIECES = st.sampled_from(
    [*(f"{label}: " for label in LABELS), *sorted(CHECKS)[:6], "## A\n", "- ", "\n", "\n\n", "+++\n", "translation"]
    + ["at step=1", "attention?step=1", "largest", "{", "}", "`", "==", "<", "1", '"', "=", "row=", "ä", "\x00", "<b>"]
    + [" :: "]
)


@tries(150)
@given(
    st.binary(max_size=400) | st.lists(PIECES, max_size=30).map(lambda p: (FRONT + "\n## A\n" + "".join(p)).encode())
)
@pytest.mark.slow
def test_any_bytes_and_any_order_of_the_parts_are_a_lesson_or_refused_with_a_message(content: bytes) -> None:
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
