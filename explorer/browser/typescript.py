"""Write the types of the structs for JavaScript into js/structs.d.ts, which `npm run types` does in tests/js."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from pathlib import Path

from explorer.browser import lesson_structs, machine_structs, map_structs, site_structs, structs
from model.config import ModelConfig

_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", typing.Any: "any"}


def declarations() -> str:
    """All structs as TypeScript."""
    lines = ["// Written by explorer/browser/typescript.py."]
    rooms = (structs, machine_structs, site_structs, lesson_structs, map_structs)
    structs_of_messages = {name: value for room in rooms for name, value in vars(room).items()}
    for name, struct in {**structs_of_messages, "ModelConfig": ModelConfig}.items():
        if isinstance(struct, type) and dataclasses.is_dataclass(struct):
            (base,) = struct.__bases__
            extended = f" extends {base.__name__}" if dataclasses.is_dataclass(base) else ""
            lines += ["", f"export interface {name}{extended} {{"]
            hints = typing.get_type_hints(struct)
            lines += [f"  {field}: {_type(hints[field])};" for field in inspect.get_annotations(struct)]
            lines += ["}"]
    return "\n".join(lines) + "\n"


def _type(hint: object) -> str:
    """Translate a Python type to TypeScript."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return hint.__name__  # type: ignore[union-attr]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_type(argument) for argument in arguments)
    if origin is list or arguments[1:] == (...,):
        inner = _type(arguments[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(_type(argument) for argument in arguments)}]"
    if origin is dict:
        return f"Record<{_type(arguments[0])}, {_type(arguments[1])}>"
    raise TypeError(f"There is no TypeScript type for {hint!r}.")


if __name__ == "__main__":
    (Path(__file__).parent / "js" / "structs.d.ts").write_text(declarations(), encoding="utf-8")
