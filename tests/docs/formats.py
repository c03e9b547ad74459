"""The tables of file formats in docs/formats.md, made from the checks that read the files."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from explorer.decoding.attention_file import CONTENT
from explorer.decoding.selection import LinkParameters
from explorer.files.manifest import ManifestFile
from explorer.lessons.lesson_format import Front, StepParts
from explorer.probing.measured import LAST_AXES, About
from model.file_formats import Config, Evaluation, Headings, Note, Pair, Status, StoredPair

MODEL_FOLDER: dict[str, type[msgspec.Struct]] = {
    "config.json": Config,
    "status.json": Status,
    "metrics.jsonl, a line": Evaluation,
    "data.jsonl, a line": StoredPair,
    "note.json": Note,
}
OTHERS: dict[str, type[msgspec.Struct]] = {
    "a link, after the question mark": LinkParameters,
    "a manifest (JSON)": ManifestFile,
    "a lesson, between the lines `+++` (TOML)": Front,
    "a lesson, a step": StepParts,
    "a table of sentence pairs (TSV, CSV, JSONL), its first row": Headings,
    "a table of sentence pairs, or two files line by line: a pair": Pair,
    "heads.npz, its entry `about` (JSON)": About,
}
_HEAD = ["| file | parts | what each may hold |", "| --- | --- | --- |"]


def model_folders() -> str:
    return _table(MODEL_FOLDER)


def other_formats() -> str:
    return "\n".join([_table(OTHERS), *_measured_arrays()])


def attention_files() -> str:
    rows = list(_HEAD)
    file = "an attention file (NPZ, JSON)"
    for holds in dict.fromkeys(CONTENT.values()):
        names = ", ".join(f"`{name}`" for name in CONTENT if CONTENT[name] == holds)
        rows.append(f"| {file} | {names} | {holds} |")
        file = ""
    return "\n".join(rows)


def _measured_arrays() -> Iterator[str]:
    """A row for the arrays of heads.npz that have the same last axes."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for part, axes in LAST_AXES.items():
        parts.setdefault(axes, []).append(f"`{part}`")
    file = "heads.npz, its arrays, by the last part of their names"
    for axes, names in parts.items():
        holds = f"real numbers, the last axes {' × '.join(axes)}" if axes else "real numbers"
        yield f"| {file} | {', '.join(names)} | {holds} |"
        file = ""


def _table(files: Mapping[str, type[msgspec.Struct]]) -> str:
    """The checked parts of each file and their limits; parts with the same limits share a row."""
    rows = list(_HEAD)
    for file, kind in files.items():
        parts: dict[str, list[str]] = {}
        for part, holds in _parts(inspect.type_info(kind), ""):
            parts.setdefault(holds, []).append(f"`{part}`")
        for holds, names in parts.items():
            rows.append(f"| {file} | {', '.join(names)} | {holds} |")
            file = ""
    return "\n".join(rows)


def _parts(kind: Any, before: str) -> Iterator[tuple[str, str]]:
    for field in kind.fields:
        name = f"{before}{field.encode_name}"
        found = _without_none(field.type)
        if isinstance(found, inspect.StructType):
            yield from _parts(found, f"{name}.")
        elif isinstance(found, inspect.ListType) and isinstance(found.item_type, inspect.StructType):
            yield from _parts(found.item_type, f"{name}[].")
        else:
            yield name, _holds(found)


def _without_none(kind: Any) -> Any:
    if isinstance(kind, inspect.UnionType):
        (kind,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind


def _holds(kind: Any) -> str:
    """The limits of a part in words: its type's own description, if there is one."""
    if isinstance(kind, inspect.Metadata):
        described: str = (kind.extra_json_schema or {})["description"]
        return described
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.DictType):
        return f"names, each with {_holds(kind.value_type)}"
    if isinstance(kind, inspect.IntType):
        return f"a whole number{_range(kind)}"
    if isinstance(kind, inspect.FloatType):
        return f"a number{_range(kind)}"
    if isinstance(kind, inspect.StrType):
        least = "1 to" if kind.min_length else "at most"
        length = f" of {least} {kind.max_length:,} characters" if kind.max_length else ""
        return f"text{length}" + (" without control and reordering characters" if kind.pattern else "")
    if isinstance(kind, inspect.ListType):
        least = f"{kind.min_length} to" if kind.min_length else "at most"
        length = f" of {least} {kind.max_length:,}" if kind.max_length else ""
        return f"a list{length}: each {_holds(kind.item_type)}"
    if isinstance(kind, inspect.TupleType):
        return f"{len(kind.item_types)} values: each {_holds(kind.item_types[0])}"
    raise TypeError(f"say in words what {kind} may hold")


def _range(kind: Any) -> str:
    if kind.le is None:
        return "" if kind.lt is None else f" from {kind.ge:,} to {kind.lt - 1:,}"
    most = next((f"{base}^{n}" for base in (10, 2) for n in range(9, 64) if kind.le == base**n), f"{kind.le:,.10g}")
    return f" from {kind.ge:,} to {most}"
