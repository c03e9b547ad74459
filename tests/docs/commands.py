"""The reference of all commands in docs/commands.md, made from their argument parsers."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any
from unittest.mock import patch

from explorer.launch import options
from model.commands import SUBCOMMANDS

# Where the main function of `python -m MODULE` is not in the module itself.
_MAINS = {"model.experiments": "model.experiments.__main__", "explorer.site": "explorer.site.command"}
_GENERAL = ("positional arguments", "options")


class _Asked(BaseException):
    """Carries the parser that was asked for its help."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


def parser_of(command: Callable[[Sequence[str]], Any]) -> argparse.ArgumentParser:
    """The parser that a command makes for its arguments.

    Raises:
        LookupError: the command does not print a parser's help.
    """

    def print_help(parser: argparse.ArgumentParser, file: object = None) -> None:
        raise _Asked(parser)

    with patch.object(argparse.ArgumentParser, "print_help", print_help):
        try:
            command(["--help"])
        except _Asked as asked:
            return asked.parser
    raise LookupError(f"{command} has no --help")


def main_of(module: str) -> Callable[[Sequence[str]], Any]:
    return import_module(_MAINS.get(module, module)).main


def overview() -> str:
    """A table of all commands: in a clone, installed, and what they do."""
    rows = ["| in a clone | installed | what it does |", "| --- | --- | --- |"]
    app = parser_of(options.parse)
    rows.append(f"| `{app.prog}` | `headlight` | {_cell(_sentence(app))} [Options](#the-app) |")
    for name, command in SUBCOMMANDS.items():
        parser = parser_of(main_of(command.module))
        rows.append(f"| `{parser.prog}` | `headlight {name}` | {_cell(_sentence(parser))} [Options](#{name}) |")
    return "\n".join(rows)


def reference() -> str:
    """A section for each command with its description and all of its options."""
    sections = [_section("The app", "headlight", parser_of(options.parse))]
    for name, command in SUBCOMMANDS.items():
        sections.append(_section(name, f"headlight {name}", parser_of(main_of(command.module))))
    return "\n\n".join(sections)


def _section(heading: str, installed: str, parser: argparse.ArgumentParser) -> str:
    parts = [f"## {heading}", f"`{parser.prog}`, installed: `{installed}`", _escaped(parser.description or "")]
    for group in parser._action_groups:
        rows = list(_rows(group._group_actions))
        if rows:
            title = [] if group.title in _GENERAL else [f"**{str(group.title)[:1].upper()}{str(group.title)[1:]}**"]
            head = "argument" if group.title == _GENERAL[0] else "option"
            parts += [*title, "\n".join([f"| {head} | meaning |", "| --- | --- |", *rows])]
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog}\n```" if "\n" in parser.epilog else _escaped(parser.epilog))
    return "\n\n".join(filter(None, parts))


def _rows(actions: Sequence[argparse.Action]) -> Iterator[str]:
    for action in actions:
        if action.help is not argparse.SUPPRESS and "--help" not in action.option_strings:
            meaning = (action.help or "") % vars(action)
            yield f"| {_cell(f'`{_written(action)}`')} | {_cell(_escaped(meaning))} |"


def _written(action: argparse.Action) -> str:
    """An argument as it is typed: `--name NAME`, `--set KEY=VALUE …`, `[SENTENCE …]`."""
    value = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())
    if action.nargs == 0:
        value = ""
    elif action.nargs in ("+", "*"):
        value += " …"
    if action.nargs in ("?", "*"):
        value = f"[{value}]"
    return f"{', '.join(action.option_strings)} {value}".strip()


def _sentence(parser: argparse.ArgumentParser) -> str:
    return (parser.description or "").split(". ")[0].rstrip(".") + "."


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
