"""Error handling and options shared by all command lines."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, get_args

from model.config import DecodeConfig, LengthPenalty, PairFault
from model.user_error import UserError, refused_by_system
from model.wording import to_data

EXIT_WRONG_USE = 2
_STANDARD_OUTPUT = "standard output"

INSTALLED = Path(__file__).resolve().parents[1].parts[-2:] == ("headlight", "_app")
"""Whether this copy is installed as a package and started by the command `headlight`."""


class Subcommand(NamedTuple):
    """A command that may follow `headlight`: the module that runs it, and a line that describes it."""

    module: str
    summary: str


SUBCOMMANDS = {
    "train": Subcommand("model.train", "train a model on a task or on your own pairs of sentences"),
    "translate": Subcommand("model.translate", "translate sentences with a model"),
    "evaluate": Subcommand("model.evaluate", "score a model on a task or on text files"),
    "relabel": Subcommand("model.relabel", "write further training pairs with trained models"),
    "hold-out": Subcommand("model.hold_out", "part sentences of unlike scenes from a corpus, to choose a recipe by"),
    "reproduce": Subcommand("model.reproduce", "repeat every step that made a bundled model"),
    "import": Subcommand("model.import_model", "import a MarianMT, BART, mBART, M2M100, NLLB, Pegasus or T5 model"),
    "experiments": Subcommand("model.experiments", "train small models that differ in one setting"),
    "site": Subcommand("explorer.site", "write web pages that translate without a server"),
}


def subcommand_of(module: str) -> str:
    """The name of the command that runs a module, or "" if none does."""
    return next((name for name, command in SUBCOMMANDS.items() if command.module == module), "")


def typed(module: str) -> str:
    """The command to type to run one of our modules: `python -m model.train`, or `headlight train` if installed."""
    name = subcommand_of(module)
    return f"headlight {name}" if INSTALLED and name else f"python -m {module}"


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
    """Add the options for comparing hypotheses of different lengths in beam search."""
    parser.add_argument(
        "--length-penalty", choices=get_args(LengthPenalty), default="mean", help="how beam search weighs length"
    )
    parser.add_argument(
        "--alpha", type=float, default=1.0, help="exponent of the length penalty (default: %(default)s)"
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose between greedy and beam search."""
    parser.add_argument("--beam", type=int, metavar="N", help="beam search with N hypotheses (default: greedy)")
    parser.add_argument(
        "--own-search", action="store_true", help="beam search as the authors of an imported model set it"
    )
    add_length_penalty(parser)


def search_config(options: argparse.Namespace, *, max_length: int = 0) -> DecodeConfig:
    """The search that the options of :func:`add_search` choose, apart from --own-search."""
    return DecodeConfig(
        method="beam" if options.beam is not None else "greedy",
        beam_size=1 if options.beam is None else options.beam,
        length_penalty=options.length_penalty,
        alpha=options.alpha,
        max_length=max_length,
    )


def add_own_data(parser: argparse.ArgumentParser) -> None:
    """Add the options for your own sentence pairs; model.training.own_data reads them."""
    from model.data.tables import ENDINGS
    from model.data.text_files import ENCODINGS

    own = parser.add_argument_group("your own sentence pairs (--task files)")
    endings = ", ".join(ending.removeprefix(".").upper() for ending in ENDINGS)
    own.add_argument("--data", type=Path, metavar="FILE", help=f"a file with a pair in each row ({endings})")
    own.add_argument("--source-column", metavar="NAME", help="heading, or number from 1, of the source column")
    own.add_argument("--target-column", metavar="NAME", help="heading, or number from 1, of the target column")
    own.add_argument("--source", type=Path, metavar="FILE", help="instead: source sentences, one a line")
    own.add_argument("--target", type=Path, metavar="FILE", help="instead: their translations, line by line")
    own.add_argument(
        "--encoding", choices=ENCODINGS, help="encoding of files that are neither UTF-8 nor UTF-16 with its mark"
    )
    own.add_argument(
        "--header", choices=("auto", "yes", "no"), default="auto", help="whether the first row holds headings"
    )
    own.add_argument(
        "--valid-share",
        type=float,
        metavar="X",
        help="share of the pairs held out for validation (default: 0.1, or 60 pairs where 0.2 would be as many)",
    )
    own.add_argument("--valid-data", type=Path, metavar="FILE", help="instead: a file of validation pairs, like --data")
    for option, help_text in (
        ("--leave-out", "do not train on what the check of the pairs finds: {}"),
        ("--keep", "train on it after all (long and duplicates are left out by default)"),
    ):
        choices = get_args(PairFault)
        own.add_argument(
            option,
            nargs="+",
            action="extend",
            default=[],
            choices=choices,
            metavar="FINDING",
            help=help_text.format(", ".join(choices)),
        )
    own.add_argument("--source-lang", default="xx", metavar="CODE", help="language of the source, such as en")
    own.add_argument("--target-lang", default="xx", metavar="CODE", help="language of the target, such as de")


AS_DATA = "HEADLIGHT_ERRORS_AS_DATA"
"""A variable of the environment with which a command prints, before the sentence of an error, its message as JSON."""


class CommandError(UserError):
    """A command line that cannot be carried out; the message says what to type instead."""


def run_command(main: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its code; a :class:`UserError` becomes one sentence and code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8 whatever the encoding of the system
            stream.reconfigure(encoding="utf-8", errors="replace")
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        line_buffering = sys.stdout.line_buffering
        sys.stdout = _Output(sys.stdout.detach(), "utf-8", "replace", line_buffering=line_buffering)
    try:
        code = main(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except UserError as error:  # any other error is a bug and keeps its traceback
        if os.environ.get(AS_DATA):
            print(json.dumps(to_data(error.text)), file=sys.stderr)
        fail(str(error))
    except BrokenPipeError:  # the reader (head, less) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        if error.filename == _STANDARD_OUTPUT:  # flushing its buffer at exit would fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(refused_by_system(error))
    except KeyboardInterrupt:
        fail("interrupted.", code=130)
    sys.exit(code)


class _Output(io.TextIOWrapper):
    """Standard output whose errors name it; the system's own do not say which file could not be written."""

    def write(self, text: str) -> int:
        """Write text; an error names standard output."""
        with _errors_named():
            return super().write(text)

    def flush(self) -> None:
        """Flush the buffer; an error names standard output."""
        with _errors_named():
            super().flush()


@contextmanager
def _errors_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, _STANDARD_OUTPUT) from None


def fail(sentence: str, *, code: int = EXIT_WRONG_USE) -> NoReturn:
    """Print one sentence on standard error and exit."""
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(code)
