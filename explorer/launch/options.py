"""The options of `python -m explorer` and `headlight`."""

from __future__ import annotations

import os
import re
import tomllib
from argparse import SUPPRESS, Action, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal, NoReturn

from explorer.runs.home import INSTALLED, ROOT
from model.commands import SUBCOMMANDS, OneSentenceParser, fail
from model.nearest import nearest
from model.user_error import UserError

Way = Literal["browser", "window", "none"]


class LaunchError(UserError):
    """Headlight cannot be started like this; the message says why and what to do."""


@dataclass(frozen=True)
class Options:
    """The options of a start.

    `way` is how the app opens; `port` is 0 for the first free one from 8501 on; `checkpoints` is None for the usual
    folder; `forwarded` are the arguments that go to Streamlit.
    """

    way: Way = "browser"
    port: int = 0
    model: str = ""
    checkpoints: Path | None = None
    viewer: bool = False
    forwarded: tuple[str, ...] = ()

    def streamlit_option(self, name: str) -> str:
        """The value of one of Streamlit's options (`server.baseUrlPath`) among the forwarded arguments or variables."""
        for at, argument in enumerate(self.forwarded):
            key, equals, value = argument.partition("=")
            if key == f"--{name}":
                following = self.forwarded[at + 1 : at + 2]
                return value if equals else "".join(following)
        section, _, option = name.partition(".")
        snake = "".join(f"_{letter}" if letter.isupper() else letter for letter in option)
        return os.environ.get(f"STREAMLIT_{section}_{snake}".upper(), "")


PROGRAM = "headlight" if INSTALLED else "python -m explorer"


def version() -> str:
    """The version of this copy of Headlight."""
    if INSTALLED:
        return metadata.version("headlight")
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


class _PrintVersion(Action):
    """Print the version and exit; it is looked up only when it is asked for."""

    def __call__(self, *_: object) -> NoReturn:
        print(f"headlight {version()}")
        raise SystemExit(0)


def parser() -> OneSentenceParser:
    """The parser of the command itself; the other commands have their own."""
    width = max(map(len, SUBCOMMANDS)) + 2
    lines = [f"  {name:<{width}}{command.summary}" for name, command in SUBCOMMANDS.items()]
    made = OneSentenceParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [OPTION …]\n       {PROGRAM} COMMAND …",
        description="Start Headlight and open it, or run a command. A second start opens the server that runs already.",
        epilog="\n".join(
            [
                f"commands ({PROGRAM} COMMAND --help says more):",
                *lines,
                "",
                "Options with a dot go to Streamlit: --server.address 0.0.0.0, --browser.serverAddress NAME …",
            ]
        ),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action=_PrintVersion, nargs=0, default=SUPPRESS, help="print the version and exit")
    way = made.add_mutually_exclusive_group()
    way.add_argument("--browser", dest="way", action="store_const", const="browser", help="open it in the browser")
    way.add_argument("--window", dest="way", action="store_const", const="window", help="open it in its own window")
    way.add_argument("--no-open", dest="way", action="store_const", const="none", help="only print its address")
    made.add_argument(
        "--port", type=_port, default=0, help="port of the server (8501 if it is free, else the next one)"
    )
    made.add_argument("--model", default="", metavar="NAME", help="open with this model")
    made.add_argument("--checkpoints", type=Path, metavar="DIR", help="folder of models (the usual one)")
    made.add_argument("--viewer", action="store_true", help="for looking only: no training, uploads or deletion")
    made.set_defaults(way="browser")
    return made


def parse(arguments: Sequence[str]) -> Options:
    """The options on a command line; a mistake is one sentence on standard error and exit code 2."""
    options = parser()
    given, forwarded = options.parse_known_args(arguments)
    first = forwarded[0] if forwarded else "--"
    if first in SUBCOMMANDS:
        fail(f"A command comes first: {PROGRAM} {first} …")
    if not first.startswith("-"):
        fail(f"There is no command '{first}'. {nearest(first, SUBCOMMANDS)}")
    for argument in forwarded:
        name = argument.partition("=")[0]
        if name == "--server.port":
            fail("Choose the port with --port, not with --server.port.")
        if name.startswith("-") and "." not in name:
            known = re.findall(r"(?m)^  .*?(--[a-z-]+)(?: |$)", options.format_help())
            fail(f"There is no option '{name}'. {nearest(name, known)}")
    return Options(**vars(given), forwarded=tuple(forwarded))


def _port(text: str) -> int:
    port = int(text)
    if not 1 <= port <= 65535:
        raise ValueError(text)
    return port


_port.__name__ = "port number"  # argparse: "invalid port number value: 'x'"
