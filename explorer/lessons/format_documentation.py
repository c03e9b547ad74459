"""The documentation of what comes in beside model folders, made from its checks; the README holds it.

`python -m explorer.lessons.format_documentation` prints it, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from explorer.decoding.attention_file import CONTENT
from explorer.decoding.selection import LinkParameters
from explorer.files.manifest import ManifestFile
from explorer.lessons.lesson_format import Front, StepParts
from explorer.probing.measured import LAST_AXES, About
from model.file_formats import Headings, Pair
from model.format_documentation import table

FORMATS: dict[str, type[Struct]] = {
    "a link, after the question mark": LinkParameters,
    "a manifest (JSON)": ManifestFile,
    "a lesson, between the lines `+++` (TOML)": Front,
    "a lesson, a step": StepParts,
    "a table of sentence pairs (TSV, CSV, JSONL), its first row": Headings,
    "a table of sentence pairs, or two files line by line: a pair": Pair,
    "heads.npz, its entry `about` (JSON)": About,
}


def formats() -> str:
    """The parts of each format that are checked, and what they may hold."""
    return "\n".join([table(FORMATS), *_arrays()])


def _arrays() -> Iterator[str]:
    """A row for the arrays of heads.npz that have the same last axes."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for part, axes in LAST_AXES.items():
        parts.setdefault(axes, []).append(f"`{part}`")
    first = "heads.npz, its arrays, by the last part of their names"
    for axes, names in parts.items():
        held = f"real numbers, the last axes {' × '.join(axes)}" if axes else "real numbers"
        yield f"| {first} | {', '.join(names)} | {held} |"
        first = ""


def attention_files() -> str:
    """What an attention file may hold."""
    rows = ["| file | parts | what each may hold |", "| --- | --- | --- |"]
    file = "an attention file (NPZ, JSON)"
    for holds in dict.fromkeys(CONTENT.values()):
        names = ", ".join(f"`{name}`" for name in CONTENT if CONTENT[name] == holds)
        rows.append(f"| {file} | {names} | {holds} |")
        file = ""
    return "\n".join(rows)


if __name__ == "__main__":
    print(formats(), attention_files(), sep="\n\n")
