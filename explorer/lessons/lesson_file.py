"""Read a lesson from its Markdown file; every error names the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from explorer.decoding.selection import from_query, to_query
from explorer.lessons.checks import validate
from explorer.lessons.exercises import is_exercise, validate_exercise
from explorer.lessons.expressions import Expression, TermError, as_number, read_expression
from explorer.lessons.lesson import Choice, Lesson, LessonError, Link, Question, Step
from explorer.lessons.lesson_format import FRONT, LABELS, MAX_RECAP, NEEDED, RECAP, misfit, misfit_in_front

MAX_BYTES, MAX_STEPS = 100_000, 30
PLACEHOLDER = re.compile(r"\{([a-z][^{}\n]*)\}")
CODE = re.compile(r"(`[^`\n]*`)")

_LABEL = re.compile(rf"({'|'.join(sorted(LABELS, key=len, reverse=True))}):(?:\s+(.*))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_FORBIDDEN = re.compile(r"<[A-Za-z/!?]|!\[|]\((?!https?://)|javascript:|:material/", re.IGNORECASE)


_NEEDS = {"Done": "Do", "Check": "Ask", "Right": "Ask", "Wrong": "Ask", "Within": "Ask"}  # labels of labels
_PAGE_PARAMETERS = {"model", "tab", "edit", "run", "entry", "view", "kind", "step", "layer", "head", "block"}


class _Fault(Exception):
    """What is wrong in a line of the file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message.removesuffix("."))
        self.line = line


@dataclass
class _Draft:
    """A step while it is being parsed: its text, and its labelled parts with their line numbers."""

    title: str
    line: int
    text: list[str] = field(default_factory=list)
    parts: list[tuple[str, int, list[str]]] = field(default_factory=list)
    choices: list[tuple[int, str]] = field(default_factory=list)


def read_lesson(path: Path) -> Lesson:
    """The lesson in a file.

    Raises:
        LessonError: the file is not a valid lesson; the message names the file and, where possible, the line.
    """
    try:
        if path.exists() and not path.is_file():
            raise LessonError(f"{path.name} is not a file, but a folder, a pipe or a device.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LessonError(f"{path.name} cannot be read: {error.strerror}.") from error
    return parse_lesson(content, path.name)


def parse_lesson(content: bytes, file: str) -> Lesson:
    """The lesson in the bytes of a file; `file` is the file's name, such as "attention.md".

    Raises:
        LessonError: see :func:`read_lesson`.
    """
    name = file.removesuffix(".md")
    if not _NAME.fullmatch(name):
        raise LessonError(
            f"{file}: the name of a lesson file has lowercase letters, digits and hyphens only, such as masks.md."
        )
    if len(content) > MAX_BYTES:
        raise LessonError(f"{file}: a lesson has at most {MAX_BYTES:,} bytes, this one has more.")
    try:
        return _lesson(name, content)
    except _Fault as fault:
        raise LessonError(f"{file}, line {fault.line}: {fault}.") from None


def _lesson(name: str, content: bytes) -> Lesson:
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise _Fault(content[: error.start].count(b"\n") + 1, "the file is not UTF-8 text") from None
    front, end = _front(lines)
    drafts = _drafts(lines, end)
    if not drafts:
        raise _Fault(len(lines) or 1, "there is no step: a step begins with a heading, '## Title'")
    if len(drafts) > MAX_STEPS:
        raise _Fault(drafts[MAX_STEPS].line, f"a lesson has at most {MAX_STEPS} steps")
    defaults: dict[str, str] = {key: front[key] for key in ("model", "text") if key in front}
    return Lesson(
        name=name,
        title=front["title"],
        about=front["about"],
        minutes=front["minutes"],
        order=front.get("order", 1000),
        steps=tuple(_step(draft, defaults) for draft in drafts),
        language=front.get("language", "en"),
        recap=_recap(front.get("recap", []), _line_of("recap", lines)),
    )


def _line_of(key: str, lines: list[str]) -> int:
    """The line of the front matter that begins with a key."""
    return next((i for i, text in enumerate(lines, start=1) if text.strip().startswith(key)), 1)


def _front(lines: list[str]) -> tuple[dict[str, Any], int]:
    """The front matter and the index of the first line after it."""
    if not lines or lines[0].strip() != "+++":
        raise _Fault(1, "a lesson begins with a line '+++', then title = \"…\", about and minutes, then '+++' again")
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.strip() == "+++"), None)
    if end is None:
        raise _Fault(1, "the front matter has no second line '+++'")
    try:
        values = tomllib.loads("\n".join(lines[1:end]))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"\(at line (\d+)", str(error))
        raise _Fault(int(match[1]) + 1 if match else end, f"the front matter is not TOML: {error}") from None
    except ValueError:  # what Python says to a number of thousands of digits
        raise _Fault(end, "the front matter holds a number that is too large") from None
    for key, value in values.items():
        if key not in FRONT:
            raise _Fault(_line_of(key, lines[:end]), f"'{key}' is unknown here; known are {', '.join(FRONT)}")
        if fault := misfit_in_front(key, value):
            raise _Fault(_line_of(key, lines[:end]), fault)
    if missing := [key for key in NEEDED if not values.get(key)]:
        raise _Fault(end + 1, f"the front matter lacks {', '.join(missing)}")
    return values, end + 1


def _recap(sentences: list[Any], line: int) -> tuple[str, ...]:
    if len(sentences) > MAX_RECAP or not all(isinstance(each, str) and each.strip() for each in sentences):
        raise _Fault(line, RECAP)
    for sentence in sentences:
        _check_prose(sentence, line)
        if next(placeholders(sentence), None):
            raise _Fault(line, "recap has no placeholders: it stands outside of any step")
    return tuple(sentences)


def _drafts(lines: list[str], start: int) -> list[_Draft]:
    """The unparsed steps, split at headings and labels."""
    drafts: list[_Draft] = []
    continues = False  # whether the previous line belongs to a label
    for number, line in enumerate(lines[start:], start=start + 1):
        if line.startswith("## "):
            drafts.append(_Draft(line[3:].strip(), number))
            continues = False
            continue
        if not drafts:
            if line.strip():
                raise _Fault(number, "text before the first step: a step begins with a heading, '## Title'")
            continue
        draft, label = drafts[-1], _LABEL.fullmatch(line.rstrip())
        if label:
            draft.parts.append((label[1], number, [label[2] or ""]))
            continues = True
        elif not line.strip():
            continues = False
            if not draft.parts:
                draft.text.append("")
        elif not draft.parts:
            draft.text.append(line.rstrip())
        elif line.startswith("- ") and draft.parts[-1][0] == "Ask":
            draft.choices.append((number, line[2:].strip()))
        elif continues:
            draft.parts[-1][2].append(line.strip())
        else:
            raise _Fault(number, f"text after '{draft.parts[-1][0]}:'; a step's text comes before its labels")
    return drafts


def _step(draft: _Draft, defaults: dict[str, str]) -> Step:
    if not draft.title:
        raise _Fault(draft.line, "a step needs a title after '##'")
    text = "\n".join(draft.text).strip()
    _fit("title", draft.title, draft.line)
    _fit("text", text, draft.line)
    blank = next((i for i, line in enumerate(draft.text) if line), 0)
    _check_prose(text, draft.line + 1 + blank)
    parts: dict[str, str] = {}
    lines: dict[str, int] = {}
    claims = []
    for label, line, words in draft.parts:
        joined = " ".join(words).strip()
        if not joined:
            raise _Fault(line, f"there is nothing after '{label}:'")
        _fit(label, _value(label, joined, line), line)
        if label == "Claim":
            claims.append(_expression(joined, line))
        elif label in parts:
            raise _Fault(line, f"a step has one '{label}:' only")
        else:
            parts[label], lines[label] = joined, line
            if label in ("Do", "Ask", "Right", "Wrong"):
                _check_prose(joined, line, answered=label in ("Right", "Wrong"))
    if "Open" in parts and "Then open" in parts:
        raise _Fault(lines["Then open"], "a step has 'Open:' or 'Then open:', not both")
    opened = "Open" if "Open" in parts else "Then open"
    link = _link(parts[opened], defaults, lines[opened]) if opened in parts else None
    if "Then open" in parts and "Ask" not in parts:
        raise _Fault(lines["Then open"], "'Then open:' waits for an answer, but there is no 'Ask:'")
    for label, needed in _NEEDS.items():
        if label in parts and needed not in parts:
            raise _Fault(lines[label], f"'{label}:' without '{needed}:'")
    return Step(
        title=draft.title,
        text=text,
        line=draft.line,
        link=link or (Link("", tuple(_query(defaults)), _models(defaults)) if defaults else None),
        after="Then open" in parts,
        do=parts.get("Do", ""),
        done=_expression(parts["Done"], lines["Done"], exercise=True) if "Done" in parts else None,
        question=_question(draft, parts, lines) if "Ask" in parts else None,
        claims=tuple(claims),
        needs=_names(parts.get("Needs", "")),
        controls=_names(parts.get("Controls", "")),
    )


def _value(label: str, written: str, line: int) -> Any:
    """What follows a label, as :class:`StepParts` types it."""
    if label == "Within":
        number = as_number(written)
        if number is None:
            raise _Fault(line, f"'{written}' is not a number")
        return number
    if label in ("Needs", "Controls"):
        return list(_names(written))
    return [written] if label == "Claim" else written


def _fit(part: str, value: Any, line: int) -> None:
    """Refuse a part of a step that is not what :class:`StepParts` says."""
    if fault := misfit(part, value):
        raise _Fault(line, fault)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _question(draft: _Draft, parts: dict[str, str], lines: dict[str, int]) -> Question:
    if missing := next((label for label in ("Check", "Right", "Wrong") if label not in parts), None):
        raise _Fault(lines["Ask"], f"the question lacks '{missing}:'")
    if draft.choices:
        _fit("choices", [text for _, text in draft.choices], lines["Ask"])
    choices = tuple(_choice(text, line) for line, text in draft.choices)
    if len({choice.text for choice in choices}) < len(choices):
        raise _Fault(lines["Ask"], "two choices are the same")
    written, line = parts["Check"], lines["Check"]
    pick = written if written in ("largest", "smallest") else ""
    compared = [choice for choice in choices if choice.expression]
    if pick and (not choices or len(compared) < len(choices)):
        raise _Fault(line, f"'{pick}' needs choices that each carry an expression: '- text :: expression'")
    if compared and not pick:
        raise _Fault(line, "choices with expressions are compared: write 'Check: largest' or 'Check: smallest'")
    check = None if pick else _expression(written, line)
    if check is not None and check.op and len(choices) != 2:
        raise _Fault(line, "a comparison is answered by two choices: the first if it holds, the second if not")
    within = as_number(parts["Within"]) if "Within" in parts else None
    return Question(parts["Ask"], choices, check, pick, parts["Right"], parts["Wrong"], within)


def _choice(written: str, line: int) -> Choice:
    text, sign, expression = written.partition(" :: ")
    if not text.strip():
        raise _Fault(line, "an empty choice")
    _check_prose(text, line)
    return Choice(text.strip(), _expression(expression, line) if sign else None)


def _expression(text: str, line: int, *, exercise: bool = False) -> Expression:
    try:
        expression = read_expression(text)
        if exercise and is_exercise(expression.left):
            if expression.op:
                raise TermError("an exercise is not compared with anything")
            validate_exercise(expression.left)
        else:
            for term in expression.terms:
                validate(term)
    except TermError as error:
        raise _Fault(line, str(error)) from None
    return expression


def placeholders(text: str) -> Iterator[str]:
    """The placeholders of a text; in a code span only if the whole span is one placeholder."""
    for part in CODE.split(text):
        if not part.startswith("`"):
            yield from PLACEHOLDER.findall(part)
        elif match := PLACEHOLDER.fullmatch(part[1:-1]):
            yield match[1]


def _check_prose(text: str, first: int, *, answered: bool = False) -> None:
    """Refuse unsafe Markdown and invalid placeholders; {answer} is allowed only in texts shown after the answer."""
    for line, words in enumerate(text.split("\n"), start=first):
        bare = "".join(part for part in CODE.split(words) if not part.startswith("`"))
        if match := _FORBIDDEN.search(bare):
            raise _Fault(line, f"'{match[0]}': a lesson is Markdown without HTML, pictures and other links than http")
        for inside in placeholders(words):
            if not (answered and inside == "answer"):
                _expression(inside, line)


def _models(query: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in query.get("model", "").split(",") if name)


def _query(query: dict[str, str]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in query.items() if key not in ("model", "tab")]


def _link(text: str, defaults: dict[str, str], line: int) -> Link:
    page, _, written = text.removeprefix("/").partition("?")
    try:
        given = dict(parse_qsl(written, keep_blank_values=True, strict_parsing=bool(written), max_num_fields=20))
    except ValueError:
        raise _Fault(line, f"'{written}' is not a list of parameters such as kind=cross&layer=1") from None
    query = {**defaults, **given}
    selection, problems = from_query({key: value for key, value in query.items() if key != "model"})
    if problems:
        raise _Fault(line, " ".join(problems))
    if unknown := query.keys() - {*to_query(selection), *_PAGE_PARAMETERS}:
        raise _Fault(line, f"the link has a parameter {min(unknown)} that no page knows")
    return Link(page, tuple(_query(query)), _models(query), query.get("tab", ""))
