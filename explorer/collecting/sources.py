"""Find every message of the interface: in the calls of our sources, in data, in lessons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from explorer.browser.words import messages as browser_messages
from explorer.lessons.library import FOLDER as LESSONS
from explorer.lessons.library import lesson_files, read_library
from explorer.lessons.translation import texts_of
from explorer.locale.glossary import GLOSSARY, NAMED
from explorer.runs.settings import CHOICES, HELP, english_label
from model.data import TASKS, get_task
from model.experiments.catalogue import EXPERIMENTS
from model.presets import PRESETS

ROOT = Path(__file__).parents[2]
MARKS = ("t", "later", "message")
"""The functions whose literal arguments are messages."""


@dataclass(frozen=True)
class Found:
    """A message, its English plural, and the file that it stands in."""

    message: str
    several: str | None
    file: str


def all_messages() -> Iterator[Found]:
    """Every message, file by file."""
    for place in ("app.py", "explorer", "model", "pages"):
        path = ROOT / place
        for source in [path] if path.is_file() else sorted(path.rglob("*.py")):
            name = source.relative_to(ROOT).as_posix()
            yield from (Found(*texts, name) for texts in in_python(_tree(source)))
    yield from _in_data()
    for file, found in browser_messages().items():
        yield from (Found(*texts, f"explorer/browser/{file}") for texts in found)
    for entry in GLOSSARY:
        yield from (
            Found(text, None, "explorer/locale/glossary.py")
            for text in (NAMED.format(entry.term), entry.plain, entry.explanation)
        )
    for lesson in read_library(lesson_files(LESSONS)).lessons:
        file = f"explorer/lessons/content/{lesson.name}.md"
        yield from (Found(text, None, file) for text in texts_of(lesson))


def _in_data() -> Iterator[Found]:
    """The texts of tasks, presets, settings and experiments that pages show."""
    tasks = [get_task(name) for name in TASKS]
    by_file = {
        f"model/data/{task.name}": (
            *(task.title, task.description, task.story, task.trained_on, task.not_a_source),
            *(prompt.note for prompt in task.examples),
        )
        for task in tasks
    }
    by_file["model/presets.toml"] = tuple(preset.title for preset in PRESETS.values())
    by_file["model/config.py"] = (*map(english_label, HELP), *HELP.values(), *CHOICES)
    by_file["model/experiments/experiments.toml"] = tuple(
        text
        for experiment in EXPERIMENTS.values()
        for text in (experiment.title, experiment.question, *(arm.label for arm in experiment.arms))
    )
    for file, texts in by_file.items():
        yield from (Found(text, None, file) for text in dict.fromkeys(texts) if text)


def in_python(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """The messages in the calls of a module, and those of its errors, each with its English plural."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        name = call.func.id
        literals = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if name in MARKS and literals and len(literals) == len(call.args):
            yield literals[0], literals[1] if len(literals) > 1 else None
        elif len(literals) == 1 and name in error_names() and " " in literals[0]:
            yield literals[0], None


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def error_names() -> frozenset[str]:
    """The names of the errors whose messages are for people: the subclasses of UserError."""
    known = {"UserError"}
    classes = [
        node
        for place in ("explorer", "model")
        for file in (ROOT / place).rglob("*.py")
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.ClassDef)
    ]
    while more := {c.name for c in classes if c.name not in known and any(_name(base) in known for base in c.bases)}:
        known |= more
    return frozenset(known)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
