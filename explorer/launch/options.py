"""The options of `python -m explorer` and `headlight`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from explorer.runs.home import INSTALLED
from model.commands import OneSentenceParser
from model.user_error import UserError

Way = Literal["browser", "window", "none"]


class LaunchError(UserError):
    """Headlight cannot be started like this; the message says why and what to do."""


@dataclass(frozen=True)
class Options:
    """What was asked for.

    `way` is how the app opens; `port` is 0 if the first free one from 8501 on will do; `checkpoints` is None for the
    usual folder; `forwarded` are the arguments that go to Streamlit.
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


def parse(arguments: Sequence[str]) -> Options:
    """The options on a command line; a mistake is one sentence on standard error and exit code 2.

    Raises:
        LaunchError: an argument that neither Headlight nor Streamlit has.
    """
    parser = OneSentenceParser(
        prog="headlight" if INSTALLED else "python -m explorer",
        description="Start Headlight and open it. A second start opens the server that is running already.",
        epilog="Further options go to Streamlit: --server.address 0.0.0.0, --browser.serverAddress NAME …",
        allow_abbrev=False,
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--browser", dest="way", action="store_const", const="browser", help="open it in the browser")
    way.add_argument("--window", dest="way", action="store_const", const="window", help="open it in its own window")
    way.add_argument("--no-open", dest="way", action="store_const", const="none", help="only print its address")
    parser.add_argument(
        "--port", type=_port, default=0, help="port of the server (8501 if it is free, else the next one)"
    )
    parser.add_argument("--model", default="", metavar="NAME", help="open with this model")
    parser.add_argument("--checkpoints", type=Path, metavar="DIR", help="folder of models (the usual one)")
    parser.add_argument("--viewer", action="store_true", help="for looking only: no training, uploads or deletion")
    parser.set_defaults(way="browser")
    given, forwarded = parser.parse_known_args(arguments)
    if forwarded and not forwarded[0].startswith("--"):
        raise LaunchError(f"'{forwarded[0]}' is no argument of this command; --help lists what it takes.")
    if any(argument.partition("=")[0] == "--server.port" for argument in forwarded):
        raise LaunchError("Choose the port with --port, not with --server.port.")
    return Options(**vars(given), forwarded=tuple(forwarded))


def _port(text: str) -> int:
    port = int(text)
    if not 1 <= port <= 65535:
        raise ValueError(text)
    return port


_port.__name__ = "port number"  # argparse: "invalid port number value: 'x'"
