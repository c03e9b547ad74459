"""Texts of the interface: named fields, plural forms, and what every call in the source must look like."""

import ast
from collections.abc import Iterator, Sequence
from string import Formatter

import pytest

from explorer.collecting.sources import error_names
from explorer.locale.messages import t
from tests.paths import ROOT
from tests.trees import nodes


def test_fields_are_filled_in_by_name_and_what_was_typed_is_no_message() -> None:
    assert t("Layer {layer}, head {head}", head=2, layer=1) == "Layer 1, head 2"
    assert t("Translated: {sentence}", sentence="{n} {0} %s") == "Translated: {n} {0} %s"
    with pytest.raises(KeyError):
        t("{n} heads")


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What Python runs when it imports a module: everything but the bodies of functions."""
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and field == "body":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from at_import(child)


def faults_of(walked: Sequence[ast.AST]) -> list[str]:
    """What is wrong with the calls of `t` in a source: no literal, fields that do not match, a language fixed early."""
    faults = [
        f"line {call.lineno}: written at import, before there is a language"
        for call in at_import(walked[0])
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("t", "translated")
    ]
    for call in walked:
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        is_error = call.func.id in error_names() and len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
        if not (call.func.id in ("t", "later") or (is_error and call.keywords)):
            continue
        messages = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if len(messages) != len(call.args) or not 1 <= len(messages) <= 2:
            faults.append(f"line {call.lineno}: the message is not a literal")
            continue
        named = {name for message in messages for _, name, _, _ in Formatter().parse(message) if name is not None}
        given = {keyword.arg for keyword in call.keywords} - ({"refused"} if is_error else set())
        if named | ({"n"} if len(messages) == 2 else set()) != given:
            faults.append(f"line {call.lineno}: names {sorted(named)}, is given {sorted(map(str, given))}")
    return faults


def test_every_call_has_whole_messages_and_the_fields_that_they_name():
    faults = {
        path.relative_to(ROOT).as_posix(): faults
        for room in ("explorer", "model", "pages")
        for path in sorted((ROOT / room).rglob("*.py"))
        if (faults := faults_of(nodes(path)))
    }
    assert not faults
