"""The syntax trees of our sources, parsed once for all tests that walk them."""

import ast
import gc
from functools import cache
from pathlib import Path


def dotted(node: ast.AST) -> str:
    """The name of a function as it is written; what is not a name with its attributes is of no interest."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "…"


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    gc.disable()  # to look for garbage among the trees would take longer than to parse them
    try:
        return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    finally:
        gc.freeze()
        gc.enable()
