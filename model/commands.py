"""What all command lines share: error handling and common options."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, get_args

from model.config import LengthPenalty

EXIT_WRONG_USE = 2

INSTALLED = Path(__file__).resolve().parents[1].parts[-2:] == ("headlight", "_app")
"""Whether this copy was installed as a package, and is started by the command `headlight`."""

# What may follow `headlight` where Headlight is installed, and the module that does it.
SUBCOMMANDS = {
    "train": "model.train",
    "translate": "model.translate",
    "evaluate": "model.evaluate",
    "relabel": "model.relabel",
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


def add_length_penalty(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how beam search compares hypotheses of different lengths."""
    parser.add_argument(
        "--length-penalty", choices=get_args(LengthPenalty), default="mean", help="how beam search weighs length"
    )
    parser.add_argument(
        "--alpha", type=float, default=1.0, help="exponent of the length penalty (default: %(default)s)"
    )


class CommandError(ValueError):
    """A command line that cannot be carried out; the message says what to type instead."""


def run_command(main: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; an error meant for people becomes one sentence and code 2."""
    given = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # any language, whatever the encoding of the system
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        code = main(given)
        sys.stdout.flush()
    except (ValueError, RuntimeError) as error:
        # Errors defined in this project say what to do; any other is a bug and keeps its traceback.
        if not type(error).__module__.startswith(("model.", "__main__")):
            raise
        fail(str(error))
    except BrokenPipeError:  # the reader (head, less) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        if error.filename is None:  # standard output cannot be written; what waits there would fail again at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"{error.filename or 'standard output'} cannot be read or written: {error.strerror or error}.")
    except KeyboardInterrupt:
        fail("interrupted.", code=130)
    sys.exit(code)


def fail(sentence: str, *, code: int = EXIT_WRONG_USE) -> NoReturn:
    """Print one sentence on standard error and exit."""
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(code)
