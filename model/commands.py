"""What all command lines share: error handling and common options."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, get_args

from model.config import LengthPenalty
from model.user_error import UserError, refused_by_system

EXIT_WRONG_USE = 2
_STANDARD_OUTPUT = "standard output"

INSTALLED = Path(__file__).resolve().parents[1].parts[-2:] == ("headlight", "_app")
"""Whether this copy was installed as a package, and is started by the command `headlight`."""

# What may follow `headlight` where Headlight is installed, and the module that does it.
SUBCOMMANDS = {
    "train": "model.train",
    "translate": "model.translate",
    "evaluate": "model.evaluate",
    "relabel": "model.relabel",
    "reproduce": "model.reproduce",
    "import": "model.import_translator",
    "experiments": "model.experiments",
    "site": "explorer.site",
}


def typed(module: str) -> str:
    """What one types to run a module of ours here: `python -m model.train`, or `headlight train` where installed."""
    named = next((name for name, known in SUBCOMMANDS.items() if known == module), None)
    return f"headlight {named}" if INSTALLED and named else f"python -m {module}"


class OneSentenceParser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence on the last line of standard error."""

    def error(self, message: str) -> NoReturn:
        """Print the error with a pointer to --help, and exit with code 2."""
        sentence = message if message.endswith((".", "?")) else f"{message}."
        self.exit(EXIT_WRONG_USE, f"{self.format_usage()}{self.prog}: {sentence} See --help.\n")


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of models."""
    parser.add_argument(
        "--checkpoints", type=Path, default=Path("checkpoints"), metavar="DIR", help="folder of models (%(default)s)"
    )


def add_retired(parser: argparse.ArgumentParser, option: str, instead: str) -> None:
    """Answer an option of earlier versions with one sentence on what to do `instead`, also with a value after it."""

    class Retired(argparse.Action):
        def __call__(self, *_: object) -> NoReturn:
            raise CommandError(f"{option} is no longer an option: {instead}")

    parser.add_argument(option, action=Retired, nargs="?", help=argparse.SUPPRESS)


def add_length_penalty(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how beam search compares hypotheses of different lengths."""
    parser.add_argument(
        "--length-penalty", choices=get_args(LengthPenalty), default="mean", help="how beam search weighs length"
    )
    parser.add_argument(
        "--alpha", type=float, default=1.0, help="exponent of the length penalty (default: %(default)s)"
    )


def add_own_data(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a person's own sentence pairs; model.training.own_data reads them."""
    own = parser.add_argument_group("your own sentence pairs (--task files)")
    own.add_argument("--data", type=Path, metavar="FILE", help="a TSV, CSV or JSONL file with a pair in each row")
    own.add_argument("--source-column", metavar="NAME", help="heading, or number from 1, of the source column")
    own.add_argument("--target-column", metavar="NAME", help="heading, or number from 1, of the target column")
    own.add_argument("--source", type=Path, metavar="FILE", help="instead: source sentences, one a line")
    own.add_argument("--target", type=Path, metavar="FILE", help="instead: their translations, line by line")
    own.add_argument(
        "--header", choices=("auto", "yes", "no"), default="auto", help="whether the first row holds headings"
    )
    own.add_argument(
        "--valid-share", type=float, metavar="X", help="share of the pairs held out for validation (default: 0.1)"
    )
    own.add_argument("--valid-data", type=Path, metavar="FILE", help="instead: a file of validation pairs, like --data")
    own.add_argument("--source-lang", default="xx", metavar="CODE", help="language of the source, such as en")
    own.add_argument("--target-lang", default="xx", metavar="CODE", help="language of the target, such as de")


class CommandError(UserError):
    """A command line that cannot be carried out; the message says what to type instead."""


def run_command(main: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; an error meant for people becomes one sentence and code 2."""
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # any language, whatever the encoding of the system
            stream.reconfigure(encoding="utf-8", errors="replace")
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        whole_lines = sys.stdout.line_buffering
        sys.stdout = _Output(sys.stdout.detach(), "utf-8", "replace", line_buffering=whole_lines)
    try:
        code = main(given)
        sys.stdout.flush()
    except UserError as error:  # any other is a bug and keeps its traceback
        fail(str(error))
    except BrokenPipeError:  # the reader (head, less) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        if error.filename == _STANDARD_OUTPUT:  # what waits there would fail again at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(refused_by_system(error))
    except KeyboardInterrupt:
        fail("interrupted.", code=130)
    sys.exit(code)


class _Output(io.TextIOWrapper):
    """Standard output whose errors name it: the system's do not say which of all files could not be written."""

    def write(self, text: str) -> int:
        """Write text; an error names standard output."""
        with _named():
            return super().write(text)

    def flush(self) -> None:
        """Pass on what has been written; an error names standard output."""
        with _named():
            super().flush()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, _STANDARD_OUTPUT) from None


def fail(sentence: str, *, code: int = EXIT_WRONG_USE) -> NoReturn:
    """Print one sentence on standard error and exit."""
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(code)
