"""Find the lines of our own code that compute a point of a model, in the source files at run time.

Every point is the argument of a call `self.point("its name", …)` or the result of a named layer, `self.q_proj(…)`
(:mod:`model.tap`), so the syntax tree of its class shows where it is computed. No line or line number is repeated here.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn

from model.architectures import Model
from model.decoding import search
from model.dry_run import points

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class CodeExcerpt:
    """The source of one of our functions; `marked` are the numbers of the lines that compute the point."""

    file: str
    function: str
    first_line: int
    lines: tuple[str, ...]
    marked: tuple[int, ...]


class NoCode(LookupError):
    """None of our lines computes this point."""


def code_of(model: Model, point: str) -> CodeExcerpt:
    """The function that computes a point, and its lines that do so.

    Raises:
        NoCode: the model has no such point.
    """
    if point == "softmax":
        return _excerpt(search.allowed_log_probs, _lines_calling(search.allowed_log_probs, "log_softmax"))
    if point == "memory":
        encode = type(model).encode
        return _excerpt(encode, set(_span(_tree(encode)[0].body[-1])))
    by_name = {each.name: each for each in points(model.config)}
    while point in by_name:
        owner, reads = _owner(model, point), by_name[point].reads
        layer = by_name[point].module.rsplit(".", 1)[-1]
        functions = list(_functions(type(owner)))
        for function in functions:
            lines, computed = _lines_of(function, point, owner)
            if computed or (lines and not reads):
                return _excerpt(function, lines)
            if lines:
                break
        else:
            for function in functions:
                if layer and (lines := _lines_calling_layer(function, layer, owner)):
                    return _excerpt(function, lines)
        if not reads:
            break
        point = reads[0]  # passed on unchanged: look for the code of its input
    raise NoCode(point)


def _owner(model: nn.Module, point: str) -> nn.Module:
    """The module whose code computes the point."""
    owner = model
    for name in point.split(".")[:-1]:
        inner = getattr(owner, name, None) if not name.isdecimal() else getattr(owner, "layers", [None])[int(name)]
        if not isinstance(inner, nn.Module) or not type(inner).__module__.startswith("model."):
            return owner
        owner = inner
    return owner


def _functions(kind: type) -> Iterator[Callable[..., Any]]:
    """The functions of a class and its bases, and those of our functions that their files import."""
    classes = [cls for cls in kind.__mro__ if cls.__module__.startswith("model.")]
    for cls in classes:
        for value in vars(cls).values():
            function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if inspect.isfunction(function):
                yield function
    for cls in classes:
        for value in vars(sys.modules[cls.__module__]).values():
            if inspect.isfunction(value) and value.__module__.startswith("model.") and value.__module__ != "model.tap":
                yield value


@cache
def _tree(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int, tuple[str, ...]]:
    """A function's syntax tree (with lines counted from 1), its first line in the file, and its lines."""
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines))
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    return tree, first, tuple(text.rstrip("\n").split("\n"))


def _lines_of(function: Callable[..., Any], point: str, owner: nn.Module) -> tuple[set[int], bool]:
    """The lines (from 1) of a function that compute a point, and whether they do more than pass it on."""
    statements = list(_statements(_tree(function)[0].body, owner))
    for i, statement in enumerate(statements):
        call = _passing(statement, point)
        if call is None:
            continue
        lines, value = set(_span(statement)), call.args[1]
        if not isinstance(value, ast.Name):
            return lines, not isinstance(value, ast.Subscript)
        for earlier in reversed(statements[:i]):
            if value.id not in _assigned(earlier):
                continue
            if isinstance(earlier, ast.Assign) and _is_point(earlier.value):
                break  # the value of another point
            lines |= set(_span(earlier))
            if any(map(_is_point, ast.walk(earlier))):
                break
        return lines, True
    return set(), False


def _statements(body: list[ast.stmt], owner: nn.Module) -> Iterator[ast.stmt]:
    """The simple statements of a function in order; of `if self.norm_first:`, only those of the branch taken."""
    for statement in body:
        if isinstance(statement, ast.If):
            test = statement.test
            condition = None
            if isinstance(test, ast.Attribute) and hasattr(owner, test.attr):
                condition = bool(getattr(owner, test.attr))
            if condition is not False:
                yield from _statements(statement.body, owner)
            if condition is not True:
                yield from _statements(statement.orelse, owner)
        elif isinstance(statement, (ast.For, ast.With, ast.While)):
            yield from _statements(statement.body, owner)
        else:
            yield statement


def _is_point(node: ast.AST) -> bool:
    """Whether this is a call `self.point(…)` or `point(…)`."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    return "point" in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))


def _passing(statement: ast.stmt, point: str) -> ast.Call | None:
    """The call in a statement that passes the point, by its full name or the end of it."""
    for node in ast.walk(statement):
        if _is_point(node) and isinstance(node, ast.Call) and re.search(rf"(^|\.){_pattern(node.args[0])}$", point):
            return node
    return None


def _pattern(name: ast.expr) -> str:
    """A regular expression for a name in the code: "scores", or with a field, f"residual{n}"."""
    if isinstance(name, ast.JoinedStr) and any(re.search("[a-z]", _text(part)) for part in name.values):
        return "".join(_pattern(part) for part in name.values)
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    return r"\w+" if isinstance(name, ast.FormattedValue) else r"(?!)"


def _text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else ""


def _lines_calling_layer(function: Callable[..., Any], layer: str, owner: nn.Module) -> set[int]:
    """The lines that call a named layer, `self.q_proj(…)`, or one of several by its number, `self.norm(n, …)`."""
    for statement in _statements(_tree(function)[0].body, owner):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (layer, layer.rstrip("0123456789")):
                return set(_span(statement))
    return set()


def _assigned(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _span(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _lines_calling(function: Callable[..., Any], name: str) -> set[int]:
    """The lines of the statements that call a method of this name."""
    return {
        line
        for statement in ast.walk(_tree(function)[0])
        if isinstance(statement, (ast.Assign, ast.Return, ast.Expr))
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr == name
        for line in _span(statement)
    }


def _excerpt(function: Callable[..., Any], lines: set[int]) -> CodeExcerpt:
    _, first, text = _tree(function)
    path = Path(inspect.getsourcefile(function) or "")
    name = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
    return CodeExcerpt(name, function.__qualname__, first, text, tuple(sorted(first + line - 1 for line in lines)))
