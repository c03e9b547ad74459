"""The parts of the documentation that are made from the code, between two comments in the Markdown.

`<!-- generated: NAME -->` begins a part and `<!-- /generated -->` ends it. :data:`PARTS` names their functions.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from explorer.lessons.checks import CHECKS
from explorer.lessons.exercises import EXERCISES
from explorer.lessons.library import lesson_files, read_library
from explorer.lessons.translation import in_language
from explorer.locale import language
from explorer.locale.catalogue import TEMPLATE, read_po
from model.commands import SUBCOMMANDS
from model.experiments.catalogue import EXPERIMENTS
from tests.benchmarks import performance
from tests.docs import commands, formats
from tests.paths import ROOT

APP = "http://localhost:8501"
_HEADINGS = {
    "en": "| | lesson | minutes | after | from age | about |",
    "de": "| | Lektion | Minuten | nach | ab Jahren | worum es geht |",
}
_PART = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- /generated -->)", re.DOTALL)


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def renewed(text: str) -> str:
    """A document with its generated parts as the code makes them now."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", text)


def lessons(code: str = language.ENGLISH) -> str:
    """The lessons in their order, with links that open them, in a language."""
    library = read_library(lesson_files(ROOT / "explorer" / "lessons" / "content"))
    end = "" if code == language.ENGLISH else f"&lang={code}"
    with language.written_in(code):
        rows = [_HEADINGS[code], "| --- | --- | --- | --- | --- | --- |"]
        ours = [in_language(lesson) for lesson in library.lessons if lesson.language == language.ENGLISH]
        numbers = {lesson.name: number for number, lesson in enumerate(ours, start=1)}
        rows += [
            f"| {numbers[lesson.name]} | [{lesson.title}]({APP}/lessons?lesson={lesson.name}&at=1{end}) "
            f"| {lesson.minutes} | {numbers.get(lesson.after, '')} | {lesson.age or ''} | {lesson.about} |"
            for lesson in ours
        ]
    return "\n".join(rows)


def messages() -> str:
    """The messages that there are to translate, in hundreds, and what stays English on purpose."""
    places = {
        "explorer/lessons/content": "lessons",
        "explorer/locale/glossary.py": "glossary",
        "explorer/browser/": "views in the browser",
        "model/": "errors, checks of data, settings and tasks",
        "": "pages, captions and exports",
    }
    found: dict[str, set[str]] = {name: set() for name in places.values()}
    for each in list(read_po(TEMPLATE))[1:]:  # its tests see that it has all messages
        file = min((file for file, _ in each.locations), key=lambda file: not file.endswith(".py"))
        found[next(name for begin, name in places.items() if file.startswith(begin))].add(str(each.id))
    rows = ["| texts | messages, about |", "| --- | --- |"]
    rows += [f"| {name} | {round(len(texts), -2):,} |" for name, texts in found.items()]
    rows.append(f"| **together** | **{round(sum(map(len, found.values())), -2):,}** |")
    translated = {path.stem for path in documents() if path.parent.name == "de"}
    english = [path for path in documents() if path.parent.name != "de" and path.stem not in translated]
    return "\n".join(rows) + (
        f"\n\nDeliberately English are the {len(SUBCOMMANDS) + 1} command lines with their help, {len(english)} "
        "for those who run, change or script Headlight, and the following."
    )


def experiments() -> str:
    rows = ["| experiment | question |", "| --- | --- |"]
    rows += [f"| `{experiment.name}` | {experiment.question} |" for experiment in EXPERIMENTS.values()]
    return "\n".join(rows)


def checks() -> str:
    return _functions("check", "what it returns", CHECKS)


def exercises() -> str:
    return _functions("exercise", "when it is done", EXERCISES)


def _functions(heading: str, result: str, registry: Mapping[str, Any]) -> str:
    rows = [f"| {heading} | parameters | {result} |", "| --- | --- | --- |"]
    for name, entry in registry.items():
        needed = ", ".join(f"`{each}`" for each in entry.needs)
        others = ", ".join(f"`{each}`" for each in entry.kinds if each not in entry.needs)
        optional = f"optional: {others}" if entry.needs and others else others
        sentence = (inspect.getdoc(entry.function) or "").split("\n\n")[0].replace("\n", " ")
        rows.append(f"| `{name}` | {', '.join(filter(None, (needed, optional)))} | {sentence} |")
    return "\n".join(rows)


PARTS: Mapping[str, Callable[[], str]] = {
    "attention files": formats.attention_files,
    "checks": checks,
    "commands": commands.reference,
    "exercises": exercises,
    "experiments": experiments,
    "formats": formats.other_formats,
    "headlight": commands.overview,
    "lessons": lessons,
    "lessons de": partial(lessons, "de"),
    "messages": messages,
    "model folders": formats.model_folders,
    "performance": performance.table,
}
