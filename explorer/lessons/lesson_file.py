"""Read a lesson from its Markdown file; every error names the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from explorer.lessons.checks import validate
from explorer.lessons.exercises import is_exercise, validate_exercise
from explorer.lessons.expressions import Expression, TermError, as_number, read_expression
from explorer.lessons.lesson import CONTROLS, PAGES, Choice, Lesson, LessonError, Link, Question, Step
from explorer.translation.selection import from_query, to_query
from model.file_formats import fits

MAX_BYTES, MAX_STEPS, MAX_TEXT, MAX_CHOICES, MAX_RECAP = 100_000, 30, 4_000, 8, 6
LABELS = ("Open", "Then open", "Do", "Done", "Ask", "Check", "Within", "Right", "Wrong", "Claim", "Needs", "Controls")
PLACEHOLDER = re.compile(r"\{([a-z][^{}\n]*)\}")
CODE = re.compile(r"(`[^`\n]*`)")

Words = Annotated[str, Meta(max_length=MAX_TEXT)]
Number = Annotated[int, Meta(ge=1, le=9_999)]


class Front(Struct, forbid_unknown_fields=True):
    """The front matter of a lesson, as its TOML names the parts."""

    title: Words
    about: Words
    minutes: Number
    order: Number = 1000
    model: Words | None = None
    text: Words | None = None
    language: Words = "en"
    recap: Annotated[list[Words], Meta(max_length=MAX_RECAP)] = msgspec.field(default_factory=list)


_FRONT = get_type_hints(Front, include_extras=True)
_NEEDED = tuple(item.name for item in msgspec.structs.fields(Front) if item.required)
_RECAP = f"recap holds at most {MAX_RECAP} sentences, each in quotation marks"
_LABEL = re.compile(rf"({'|'.join(sorted(LABELS, key=len, reverse=True))}):(?:\s+(.*))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_MARKUP = re.compile(r"<[A-Za-z/!?]|!\[|]\((?!https?://)|javascript:|:material/", re.IGNORECASE)


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
        content = path.read_bytes()
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
        raise LessonError(f"{file}: a lesson has at most {MAX_BYTES:,} bytes, this one {len(content):,}.")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise LessonError(f"{file}, line {line}: the file is not UTF-8 text.") from None
    front, end = _front(lines, file)
    drafts = _drafts(lines, end, file)
    if not drafts:
        raise _error(file, len(lines) or 1, "there is no step: a step begins with a heading, '## Title'")
    if len(drafts) > MAX_STEPS:
        raise _error(file, drafts[MAX_STEPS].line, f"a lesson has at most {MAX_STEPS} steps")
    defaults: dict[str, str] = {key: front[key] for key in ("model", "text") if key in front}
    steps = tuple(_step(draft, defaults, file) for draft in drafts)
    return Lesson(
        name=name,
        title=front["title"],
        about=front["about"],
        minutes=front["minutes"],
        order=front.get("order", 1000),
        steps=steps,
        language=front.get("language", "en"),
        recap=_recap(front.get("recap", []), lines, file),
    )


def _error(file: str, line: int, message: str) -> LessonError:
    return LessonError(f"{file}, line {line}: {message.removesuffix('.')}.")


def _front(lines: list[str], file: str) -> tuple[dict[str, Any], int]:
    """The front matter and the index of the first line after it."""
    if not lines or lines[0].strip() != "+++":
        raise _error(
            file, 1, "a lesson begins with a line '+++', then title = \"…\", about and minutes, then '+++' again"
        )
    end = next((i for i, line in enumerate(lines[1:], start=1) if line.strip() == "+++"), None)
    if end is None:
        raise _error(file, 1, "the front matter has no second line '+++'")
    try:
        values = tomllib.loads("\n".join(lines[1:end]))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"\(at line (\d+)", str(error))
        raise _error(file, int(match[1]) + 1 if match else end, f"the front matter is not TOML: {error}") from None
    for key, value in values.items():
        line = next((i for i, text in enumerate(lines[:end], start=1) if text.strip().startswith(key)), 1)
        if key not in _FRONT:
            raise _error(file, line, f"'{key}' is unknown here; known are {', '.join(_FRONT)}")
        if not fits(value, _FRONT[key]):
            raise _error(file, line, _complaint(key, value))
    if missing := [key for key in _NEEDED if not values.get(key)]:
        raise _error(file, end + 1, f"the front matter lacks {', '.join(missing)}")
    return values, end + 1


def _complaint(key: str, value: Any) -> str:
    """What is wrong with the value of a key that does not fit."""
    wanted = {int: "a whole number", str: "text in quotation marks", list: "a list of sentences in brackets"}
    kind = {"minutes": int, "order": int, "recap": list}.get(key, str)
    if type(value) is not kind:
        return f"{key} must be {wanted[kind]}"
    if kind is list:
        return _RECAP
    return f"{key} must be between 1 and 9,999" if kind is int else f"{key} has at most {MAX_TEXT:,} characters"


def _recap(sentences: list[Any], lines: list[str], file: str) -> tuple[str, ...]:
    line = next((i for i, text in enumerate(lines, start=1) if text.strip().startswith("recap")), 1)
    if len(sentences) > MAX_RECAP or not all(isinstance(each, str) and each.strip() for each in sentences):
        raise _error(file, line, _RECAP)
    for sentence in sentences:
        _prose(sentence, line, file, first=line)
        if next(placeholders(sentence), None):
            raise _error(file, line, "recap has no placeholders: it stands outside of any step")
    return tuple(sentences)


def _drafts(lines: list[str], start: int, file: str) -> list[_Draft]:
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
                raise _error(file, number, "text before the first step: a step begins with a heading, '## Title'")
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
            raise _error(file, number, f"text after '{draft.parts[-1][0]}:'; a step's text comes before its labels")
    return drafts


def _step(draft: _Draft, defaults: dict[str, str], file: str) -> Step:
    if not draft.title:
        raise _error(file, draft.line, "a step needs a title after '##'")
    text = "\n".join(draft.text).strip()
    blank = next((i for i, line in enumerate(draft.text) if line), 0)
    _prose(text, draft.line, file, first=draft.line + 1 + blank)
    single: dict[str, tuple[int, str]] = {}
    claims = []
    for label, line, words in draft.parts:
        joined = " ".join(words).strip()
        if not joined:
            raise _error(file, line, f"there is nothing after '{label}:'")
        if label == "Claim":
            claims.append(_expression(joined, line, file))
        elif label in single:
            raise _error(file, line, f"a step has one '{label}:' only")
        else:
            single[label] = (line, joined)
            if label in ("Do", "Ask", "Right", "Wrong"):
                _prose(joined, line, file, first=line, answered=label in ("Right", "Wrong"))
    if "Open" in single and "Then open" in single:
        raise _error(file, single["Then open"][0], "a step has 'Open:' or 'Then open:', not both")
    opened = single.get("Open") or single.get("Then open")
    link = _link(opened[1], defaults, opened[0], file) if opened else None
    if "Then open" in single and "Ask" not in single:
        raise _error(file, single["Then open"][0], "'Then open:' waits for an answer, but there is no 'Ask:'")
    if "Done" in single and "Do" not in single:
        raise _error(file, single["Done"][0], "'Done:' without 'Do:'")
    line, done = single.get("Done", (0, ""))
    return Step(
        title=draft.title,
        text=text,
        line=draft.line,
        link=link or (Link("", tuple(_query(defaults)), _models(defaults)) if defaults else None),
        after="Then open" in single,
        do=single.get("Do", (0, ""))[1],
        done=_expression(done, line, file, exercise=True) if done else None,
        question=_question(draft, single, file),
        claims=tuple(claims),
        needs=_names(single.get("Needs", (0, ""))[1]),
        controls=_controls(*single.get("Controls", (0, "")), file),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _controls(line: int, text: str, file: str) -> tuple[str, ...]:
    names = _names(text)
    if unknown := [name for name in names if name not in CONTROLS]:
        raise _error(file, line, f"there is no control '{unknown[0]}'; they are {', '.join(CONTROLS)}")
    return names


def _question(draft: _Draft, single: dict[str, tuple[int, str]], file: str) -> Question | None:
    if "Ask" not in single:
        for label in ("Check", "Right", "Wrong", "Within"):
            if label in single:
                raise _error(file, single[label][0], f"'{label}:' without 'Ask:'")
        return None
    line = single["Ask"][0]
    for label in ("Check", "Right", "Wrong"):
        if label not in single:
            raise _error(file, line, f"the question lacks '{label}:'")
    choices = tuple(_choice(number, text, file) for number, text in draft.choices)
    if len(choices) == 1 or len(choices) > MAX_CHOICES:
        raise _error(file, line, f"a question has 2 to {MAX_CHOICES} choices, or none for a typed answer")
    if len({choice.text for choice in choices}) < len(choices):
        raise _error(file, line, "two choices are the same")
    at, written = single["Check"]
    pick = written if written in ("largest", "smallest") else ""
    compared = [choice for choice in choices if choice.expression]
    if pick and (not choices or len(compared) < len(choices)):
        raise _error(file, at, f"'{pick}' needs choices that each carry an expression: '- text :: expression'")
    if compared and not pick:
        raise _error(file, at, "choices with expressions are compared: write 'Check: largest' or 'Check: smallest'")
    within = single.get("Within")
    tolerance = as_number(within[1]) if within else None
    if within and (tolerance is None or tolerance < 0):
        raise _error(file, within[0], f"'{within[1]}' is not a number")
    check = None if pick else _expression(written, at, file)
    if check is not None and check.op and len(choices) != 2:
        raise _error(file, at, "a comparison is answered by two choices: the first if it holds, the second if not")
    return Question(
        text=single["Ask"][1],
        choices=choices,
        check=check,
        pick=pick,
        right=single["Right"][1],
        wrong=single["Wrong"][1],
        within=tolerance,
    )


def _choice(line: int, written: str, file: str) -> Choice:
    text, sign, expression = written.partition(" :: ")
    if not text.strip():
        raise _error(file, line, "an empty choice")
    _prose(text, line, file, first=line)
    return Choice(text.strip(), _expression(expression, line, file) if sign else None)


def _expression(text: str, line: int, file: str, *, exercise: bool = False) -> Expression:
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
        raise _error(file, line, str(error)) from None
    return expression


def placeholders(text: str) -> Iterator[str]:
    """The placeholders of a text; in a code span only if the whole span is one placeholder."""
    for part in CODE.split(text):
        if not part.startswith("`"):
            yield from PLACEHOLDER.findall(part)
        elif match := PLACEHOLDER.fullmatch(part[1:-1]):
            yield match[1]


def _prose(text: str, line: int, file: str, *, first: int, answered: bool = False) -> None:
    """Refuse unsafe Markdown and invalid placeholders; {answer} is allowed only in texts shown after the answer."""
    if len(text) > MAX_TEXT:
        raise _error(file, line, f"a text has at most {MAX_TEXT:,} characters, this one {len(text):,}")
    for number, words in enumerate(text.split("\n"), start=first):
        bare = "".join(part for part in CODE.split(words) if not part.startswith("`"))
        if match := _MARKUP.search(bare):
            raise _error(
                file, number, f"'{match[0]}': a lesson is Markdown without HTML, pictures and other links than http"
            )
        for inside in placeholders(words):
            if not (answered and inside == "answer"):
                _expression(inside, number, file)


def _models(query: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in query.get("model", "").split(",") if name)


def _query(query: dict[str, str]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in query.items() if key not in ("model", "tab")]


def _link(text: str, defaults: dict[str, str], line: int, file: str) -> Link:
    page, _, written = text.removeprefix("/").partition("?")
    if page not in PAGES:
        raise _error(file, line, f"there is no page '{page}'; the pages are {', '.join(PAGES)}")
    try:
        given = dict(parse_qsl(written, keep_blank_values=True, strict_parsing=bool(written), max_num_fields=20))
    except ValueError:
        raise _error(file, line, f"'{written}' is not a list of parameters such as kind=cross&layer=1") from None
    query = {**defaults, **given}
    selection, problems = from_query({key: value for key, value in query.items() if key != "model"})
    if problems:
        raise _error(file, line, " ".join(problems))
    page_parameters = {"model", "tab", "edit", "run", "entry", "view", "kind", "step", "layer", "head", "block"}
    known = {*to_query(selection), *page_parameters}
    if unknown := [key for key in query if key not in known]:
        raise _error(file, line, f"the link has a parameter {unknown[0]} that no page knows")
    return Link(page, tuple(_query(query)), _models(query), query.get("tab", ""))
