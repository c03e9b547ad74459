"""Generate the types of the structs for JavaScript, js/structs.d.ts: `python -m explorer.browser.typescript`."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from pathlib import Path

from explorer.browser import lesson_structs, machine_structs, map_structs, site_structs, structs

FILE = Path(__file__).parent / "js" / "structs.d.ts"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", typing.Any: "any"}


def declarations() -> str:
    """All structs as TypeScript."""
    command = "`python -m explorer.browser.typescript`"
    lines = [f"// Generated from the structs of explorer/browser by {command}. Do not edit."]
    rooms = (structs, machine_structs, site_structs, lesson_structs, map_structs)
    for name, struct in {name: value for room in rooms for name, value in vars(room).items()}.items():
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
    FILE.write_text(declarations(), encoding="utf-8")
