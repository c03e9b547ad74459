"""Read a lesson from its Markdown file; every error names the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from explorer.decoding.selection import from_query, to_query
from explorer.lessons.checks import validate
from explorer.lessons.exercises import is_exercise, validate_exercise
from explorer.lessons.expressions import Expression, TermError, as_number, read_expression
from explorer.lessons.lesson import PAGES, Choice, Lesson, LessonError, Link, Question, Step
from explorer.lessons.lesson_format import LABELS, Front, StepParts
from explorer.locale.messages import Later, later
from model.file_formats import FormatError, Kind, checked
from model.user_error import UserError

MAX_BYTES, MAX_STEPS = 100_000, 30
PLACEHOLDER = re.compile(r"\{([a-z][^{}\n]*)\}")
CODE = re.compile(r"(`[^`\n]*`)")

_LABEL = re.compile(rf"({'|'.join(sorted(LABELS, key=len, reverse=True))}):(?:\s+(.*))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_FORBIDDEN = re.compile(r"<[A-Za-z/!?]|!\[|]\((?!https?://)|javascript:|:material/", re.IGNORECASE)


# Labels that require another label.
_NEEDS = {"Done": "Do", "Check": "Ask", "Right": "Ask", "Wrong": "Ask", "Within": "Ask"}
_PAGE_PARAMETERS = {"model", "tab", "edit", "run", "entry", "view", "kind", "step", "layer", "head", "block", "follow"}


class _Fault(UserError):
    """An error in a line of the file."""

    def __init__(self, line: int, message: str | Exception, /, **fields: object) -> None:
        super().__init__(message, **fields)
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
    """Read the lesson in a file.

    Raises:
        LessonError: the file is not a valid lesson; the message names the file and, where possible, the line.
    """
    try:
        if path.exists() and not path.is_file():
            raise LessonError("{name} is not a file, but a folder, a pipe or a device.", name=path.name)
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LessonError("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror) from error
    return replace(parse_lesson(content, path.name), picture=_picture(path.with_suffix(".svg")))


def _picture(path: Path) -> str:
    """The SVG beside a lesson's file; empty if there is none that a browser could show."""
    if not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ""
    text = path.read_bytes().decode("utf-8", errors="replace").strip()
    return text if text.startswith("<svg ") else ""


def parse_lesson(content: bytes, file: str) -> Lesson:
    """Parse the lesson in the bytes of a file; `file` is the file's name, such as "attention.md".

    Raises:
        LessonError: see :func:`read_lesson`.
    """
    name = file.removesuffix(".md")
    if not _NAME.fullmatch(name):
        raise LessonError(
            "{file}: the name of a lesson file has lowercase letters, digits and hyphens only, such as masks.md.",
            file=file,
        )
    if len(content) > MAX_BYTES:
        raise LessonError(
            "{file}: a lesson has at most {max_bytes:,} bytes; this one has more.", file=file, max_bytes=MAX_BYTES
        )
    try:
        return _lesson(name, content)
    except _Fault as fault:
        what = str(fault).removesuffix(".")
        raise LessonError("{file}, line {line}: {fault}.", file=file, line=fault.line, fault=what) from None


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
        raise _Fault(drafts[MAX_STEPS].line, "a lesson has at most {most} steps", most=MAX_STEPS)
    defaults = {key: value for key, value in (("model", front.model), ("text", front.text)) if value is not None}
    return Lesson(
        name=name,
        title=front.title,
        about=front.about,
        minutes=front.minutes,
        order=front.order,
        after=front.after,
        age=front.age,
        steps=tuple(_step(draft, defaults) for draft in drafts),
        language=front.language,
        recap=tuple(front.recap),
    )


def _converted(values: Mapping[str, Any], kind: type[Kind], what: Later, lines: Mapping[str, int], line: int) -> Kind:
    """Convert the parts of `what` by name to a struct; errors name the part's line, or else `line`."""
    try:
        return checked(values, kind)[0]
    except FormatError as error:
        named = re.findall(r"['`]([A-Za-z][\w ]*)", str(error))
        raise _Fault(
            next((lines[name] for name in named if name in lines), line), "{part} {error}", part=what, error=error
        ) from None


def _front(lines: list[str]) -> tuple[Front, int]:
    """Parse the front matter; also returns the index of the first line after it."""
    if not lines or lines[0].strip() != "+++":
        raise _Fault(1, "a lesson begins with a line '+++', then title = \"…\", about and minutes, then '+++' again")
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.strip() == "+++"), None)
    if end is None:
        raise _Fault(1, "the front matter has no second line '+++'")
    try:
        values = tomllib.loads("\n".join(lines[1:end]))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"\(at line (\d+)", str(error))
        raise _Fault(
            int(match[1]) + 1 if match else end, "the front matter is not TOML: {error}", error=error
        ) from None
    except ValueError:  # raised by Python for a number with thousands of digits
        raise _Fault(end, "the front matter has a number that is too large") from None
    where = {
        key: next((i for i, text in enumerate(lines, start=1) if text.strip().startswith(key)), 1) for key in values
    }
    front = _converted(values, Front, later("the front matter"), where, end + 1)
    for sentence in front.recap:
        _check_prose(sentence, where["recap"])
        if next(placeholders(sentence), None):
            raise _Fault(where["recap"], "recap cannot have placeholders, since it does not belong to a step")
    return front, end + 1


def _drafts(lines: list[str], start: int) -> list[_Draft]:
    """Split lines into unparsed steps, at headings and labels."""
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
            raise _Fault(
                number, "text after '{label}:'; a step's text comes before its labels", label=draft.parts[-1][0]
            )
    return drafts


def _step(draft: _Draft, defaults: dict[str, str]) -> Step:
    text = "\n".join(draft.text).strip()
    blank = next((i for i, line in enumerate(draft.text) if line), 0)
    _check_prose(text, draft.line + 1 + blank)
    values: dict[str, Any] = {"title": draft.title, "text": text, "Claim": []}
    lines = {"title": draft.line, "text": draft.line}
    claims = []
    for label, line, words in draft.parts:
        joined = " ".join(words).strip()
        if not joined:
            raise _Fault(line, "there is nothing after '{label}:'", label=label)
        if label == "Claim":
            values[label].append(joined)
            claims.append(_expression(joined, line))
        elif label in values:
            raise _Fault(line, "a step can have only one '{label}:'", label=label)
        else:
            values[label] = _value(label, joined, line)
        lines[label] = line
        if label in ("Do", "Ask", "Right", "Wrong"):
            _check_prose(joined, line, answered=label in ("Right", "Wrong"))
    if draft.choices:
        values["choices"], lines["choices"] = [choice for _, choice in draft.choices], lines["Ask"]
    parts = _converted(values, StepParts, later("the step"), lines, draft.line)
    if parts.open and parts.then_open:
        raise _Fault(lines["Then open"], "a step has 'Open:' or 'Then open:', not both")
    if parts.then_open and not parts.ask:
        raise _Fault(lines["Then open"], "'Then open:' waits for an answer, but there is no 'Ask:'")
    for label, needed in _NEEDS.items():
        if label in values and needed not in values:
            raise _Fault(lines[label], "'{label}:' stands without '{needed}:'", label=label, needed=needed)
    link = Link("", tuple(_query(defaults)), _models(defaults)) if defaults else None
    if opened := parts.open or parts.then_open:
        link = _link(opened, defaults, lines["Open" if parts.open else "Then open"])
    return Step(
        title=draft.title,
        text=text,
        line=draft.line,
        link=link,
        after=parts.then_open is not None,
        do=parts.do or "",
        done=_expression(parts.done, lines["Done"], exercise=True) if parts.done else None,
        question=_question(draft, parts, lines) if parts.ask else None,
        claims=tuple(claims),
        needs=tuple(parts.needs),
        controls=tuple(parts.controls),
    )


def _value(label: str, written: str, line: int) -> Any:
    """Convert the text after a label to the type in :class:`StepParts`."""
    if label == "Within":
        number = as_number(written)
        if number is None:
            raise _Fault(line, "'{written}' is not a number", written=written)
        return number
    if label in ("Needs", "Controls"):
        return [name.strip() for name in written.split(",") if name.strip()]
    return written


def _question(draft: _Draft, parts: StepParts, lines: dict[str, int]) -> Question:
    if missing := next((label for label in ("Check", "Right", "Wrong") if label not in lines), None):
        raise _Fault(lines["Ask"], "the question has no '{missing}:'", missing=missing)
    choices = tuple(_choice(text, line) for line, text in draft.choices)
    if len({choice.text for choice in choices}) < len(choices):
        raise _Fault(lines["Ask"], "two choices are the same")
    written, line = parts.check or "", lines["Check"]
    pick = written if written in ("largest", "smallest") else ""
    compared = [choice for choice in choices if choice.expression]
    if pick and (not choices or len(compared) < len(choices)):
        raise _Fault(line, "'{pick}' needs choices that each have an expression: '- text :: expression'", pick=pick)
    if compared and not pick:
        raise _Fault(line, "choices with expressions are compared: write 'Check: largest' or 'Check: smallest'")
    check = None if pick else _expression(written, line)
    if check is not None and check.op and len(choices) != 2:
        raise _Fault(line, "a comparison is answered by two choices: the first if it holds, the second if not")
    return Question(parts.ask or "", choices, check, pick, parts.right or "", parts.wrong or "", parts.within)


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
        raise _Fault(line, error) from None
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
            raise _Fault(
                line, "'{found}': a lesson is Markdown without HTML, images or links other than http", found=match[0]
            )
        for inside in placeholders(words):
            if not (answered and inside == "answer"):
                _expression(inside, line)


def _models(query: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in query.get("model", "").split(",") if name)


def _query(query: dict[str, str]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in query.items() if key not in ("model", "tab")]


def _link(text: str, defaults: dict[str, str], line: int) -> Link:
    page, _, written = text.removeprefix("/").partition("?")
    if page not in PAGES:
        raise _Fault(line, "there is no page '{page}'; the pages are {pages}", page=page, pages=", ".join(PAGES))
    try:
        given = dict(parse_qsl(written, keep_blank_values=True, strict_parsing=bool(written), max_num_fields=20))
    except ValueError:
        raise _Fault(
            line, "'{written}' is not a list of parameters such as kind=cross&layer=1", written=written
        ) from None
    query = {**defaults, **given}
    selection, problems = from_query({key: value for key, value in query.items() if key != "model"})
    if problems:
        raise _Fault(line, UserError(" ".join(problems)))
    if unknown := query.keys() - {*to_query(selection), *_PAGE_PARAMETERS}:
        raise _Fault(line, "the link has an unknown parameter {parameter}", parameter=min(unknown))
    return Link(page, tuple(_query(query)), _models(query), query.get("tab", ""))
