"""The documentation of the JSON files of a model folder, made from their checks.

`python -m model.format_documentation` prints it; the README holds it, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from model.file_formats import Config, Evaluation, Note, Status, StoredPair

FILES: dict[str, type[msgspec.Struct]] = {
    "config.json": Config,
    "status.json": Status,
    "metrics.jsonl, a line": Evaluation,
    "data.jsonl, a line": StoredPair,
    "note.json": Note,
}


def table(files: Mapping[str, type[msgspec.Struct]] = FILES) -> str:
    """The parts of each file that are checked, and what they may hold; one row for those that may hold the same."""
    rows = ["| file | parts | what each may hold |", "| --- | --- | --- |"]
    for file, kind in files.items():
        parts: dict[str, list[str]] = {}
        for part, holds in _parts(inspect.type_info(kind), ""):
            parts.setdefault(holds, []).append(f"`{part}`")
        for holds, names in parts.items():
            rows.append(f"| {file} | {', '.join(names)} | {holds} |")
            file = ""
    return "\n".join(rows)


def _parts(kind: Any, before: str) -> Iterator[tuple[str, str]]:
    """The parts of a structure and of the structures in it, each with what it may hold."""
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
    """What a part may hold, in words: those of its type's description, if it has one."""
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


if __name__ == "__main__":
    print(table())
