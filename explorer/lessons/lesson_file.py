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
from explorer.lessons.lesson_format import (
    FRONT,
    LABELS,
    MAX_RECAP,
    NEEDED,
    RECAP,
    misfit,
    misfit_in_front,
)

MAX_BYTES, MAX_STEPS = 100_000, 30
PLACEHOLDER = re.compile(r"\{([a-z][^{}\n]*)\}")
CODE = re.compile(r"(`[^`\n]*`)")

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
    except ValueError:  # what Python says to a number of thousands of digits
        raise _error(file, end, "the front matter holds a number that is too large") from None
    for key, value in values.items():
        line = next((i for i, text in enumerate(lines[:end], start=1) if text.strip().startswith(key)), 1)
        if key not in FRONT:
            raise _error(file, line, f"'{key}' is unknown here; known are {', '.join(FRONT)}")
        if said := misfit_in_front(key, value):
            raise _error(file, line, said)
    if missing := [key for key in NEEDED if not values.get(key)]:
        raise _error(file, end + 1, f"the front matter lacks {', '.join(missing)}")
    return values, end + 1


def _recap(sentences: list[Any], lines: list[str], file: str) -> tuple[str, ...]:
    line = next((i for i, text in enumerate(lines, start=1) if text.strip().startswith("recap")), 1)
    if len(sentences) > MAX_RECAP or not all(isinstance(each, str) and each.strip() for each in sentences):
        raise _error(file, line, RECAP)
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
    _fit("title", draft.title, draft.line, file)
    _fit("text", text, draft.line, file)
    blank = next((i for i, line in enumerate(draft.text) if line), 0)
    _prose(text, draft.line, file, first=draft.line + 1 + blank)
    single: dict[str, tuple[int, str]] = {}
    claims = []
    for label, line, words in draft.parts:
        joined = " ".join(words).strip()
        if not joined:
            raise _error(file, line, f"there is nothing after '{label}:'")
        _fit(label, _value(label, joined, line, file), line, file)
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
        controls=_names(single.get("Controls", (0, ""))[1]),
    )


def _value(label: str, written: str, line: int, file: str) -> Any:
    """What follows a label, as :class:`StepParts` types it."""
    if label == "Within":
        number = as_number(written)
        if number is None:
            raise _error(file, line, f"'{written}' is not a number")
        return number
    if label in ("Needs", "Controls"):
        return list(_names(written))
    return [written] if label == "Claim" else written


def _fit(part: str, value: Any, line: int, file: str) -> None:
    """Refuse a part of a step that is not what :class:`StepParts` says."""
    if said := misfit(part, value):
        raise _error(file, line, said)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


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
    if draft.choices:
        _fit("choices", [text for _, text in draft.choices], line, file)
    choices = tuple(_choice(number, text, file) for number, text in draft.choices)
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
