"""Train a shipped model again from its corpus: `python -m model.reproduce NAME --checkpoints DIR`.

This is for models that take several commands, each building on the results of earlier ones. Finished steps are skipped,
so the same command continues after an interruption.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from model.commands import CommandError, OneSentenceParser, run_command, typed
from model.folder import STATUS, WEIGHTS
from model.nearest import nearest


@dataclass(frozen=True)
class Step:
    """One command of a chain: `model.train` or `model.relabel`, the model or file that it makes, and its options.

    The options leave out `--name`, `--out` and folders, which follow from `makes` and the folder of the chain.
    """

    command: Literal["train", "relabel"]
    makes: str
    options: str
    added: tuple[str, ...] = ()

    def words(self, folder: Path, data_dir: Path | None) -> list[str]:
        """The whole command after `python -m`; everything it makes and reads is in `folder`."""
        words = [f"model.{self.command}", *self.options.split(), "--checkpoints", str(folder)]
        words += ["--name", self.makes] if self.command == "train" else ["--out", str(folder / self.makes)]
        words += ["--add-data", *(str(folder / name) for name in self.added)] if self.added else []
        return [*words, *_corpora(data_dir)]

    @property
    def reads(self) -> tuple[str, ...]:
        """The models and files of other steps that the command reads."""
        words = self.options.split()
        models = (value for word, value in pairwise(words) if word in ("--init", "--model", "--reverse"))
        return (*models, *self.added)

    def is_done(self, folder: Path) -> bool:
        """Whether the result is complete: a file, or a model whose training has finished.

        A model without a status was copied there without the files of its run.
        """
        from model.training.runfolder import read_status

        result = folder / self.makes
        if (result / STATUS).is_file():
            return read_status(result).get("state") == "finished"
        return result.is_file() or (result / WEIGHTS).is_file()

    def carry_out(self, folder: Path, data_dir: Path | None) -> None:
        """Run the command, or resume it."""
        from model import relabel, train
        from model.training.parts import find_first

        arguments = self.words(folder, data_dir)[1:]
        if self.command == "relabel":
            relabel.main(arguments)
        elif (folder / find_first(folder, self.makes)).exists():
            train.main(["--resume", self.makes, "--checkpoints", str(folder), *_corpora(data_dir)])
        else:
            train.main(arguments)


def _corpora(data_dir: Path | None) -> list[str]:
    return ["--data-dir", str(data_dir)] if data_dir else []


def _chains(path: Path) -> dict[str, tuple[Step, ...]]:
    """Read the chain of steps of each model from a file."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    texts = {name: text for name, text in content.items() if isinstance(text, str)}
    steps = {
        name: Step(
            "relabel" if name.endswith(".jsonl") else "train",
            name,
            step["options"].format(**texts),
            tuple(step.get("added", ())),
        )
        for name, step in content["steps"].items()
    }
    return {model: tuple(steps[name] for name in names) for model, names in content["chains"].items()}


CHAINS = _chains(Path(__file__).with_suffix(".toml"))


def needed(chain: Sequence[Step], wanted: Iterable[str], folder: Path) -> tuple[Step, ...]:
    """The steps of a chain that make the `wanted` models and files, and the inputs of those that are not done.

    Raises:
        KeyError: no step makes one of them.
    """
    makers = {step.makes: step for step in chain}
    required: set[str] = set()
    pending = list(wanted)
    while pending:
        step = makers[pending.pop()]
        required.add(step.makes)
        pending += [] if step.is_done(folder) else step.reads
    return tuple(step for step in chain if step.makes in required)


def carry_out(chain: Sequence[Step], folder: Path, data_dir: Path | None, *, dry_run: bool = False) -> int:
    """Carry out the steps of a chain that are not done, and return the exit code."""
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(chain, start=1):
        module, *words = step.words(folder, data_dir)
        command = f"{typed(module)} {shlex.join(words)}"
        done = step.is_done(folder)
        print(f"[{number}/{len(chain)}] {'done: ' if done else ''}{command}", file=None if dry_run else sys.stderr)
        if done or dry_run:
            continue
        step.carry_out(folder, data_dir)
        if not step.is_done(folder):
            print("Stopped; the same command continues from here.", file=sys.stderr)
            return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.reproduce"),
        description="Run all commands that a shipped model was made with. Commands that have finished in the same "
        "folder are skipped.",
        epilog=f"models: {', '.join(CHAINS)}. The card of any other model names the single command that made it.",
    )
    options.add_argument("name", metavar="NAME", help="a shipped model, listed below")
    options.add_argument(
        "--checkpoints", required=True, type=Path, metavar="DIR", help="folder for the new models and their data"
    )
    options.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    options.add_argument(
        "--only", nargs="+", default=[], metavar="WHAT", help="make only these models and files, and what they need"
    )
    options.add_argument("--dry-run", action="store_true", help="print the commands and which of them are done")
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    if options.name not in CHAINS:
        raise CommandError(
            "there is no chain of commands for '{name}'. {nearest} The card of a model names the command that made it.",
            name=options.name,
            nearest=nearest(options.name, CHAINS),
        )
    chain = CHAINS[options.name]
    makes = [step.makes for step in chain]
    for name in options.only:
        if name not in makes:
            raise CommandError(
                "the chain of {name} does not make '{part}'; it makes {makes}.",
                name=options.name,
                part=name,
                makes=", ".join(makes),
            )
    steps = needed(chain, options.only or makes, options.checkpoints)
    if options.dry_run:
        return carry_out(steps, options.checkpoints, options.data_dir, dry_run=True)
    if options.only:
        _refuse_others(steps, options.checkpoints)
        return carry_out(steps, options.checkpoints, options.data_dir)
    return reproduce(steps, options.checkpoints, options.data_dir)


def reproduce(chain: Sequence[Step], folder: Path, data_dir: Path | None) -> int:
    """Carry out a chain that ends in a shipped model, store its weights as shipped, and return the exit code."""
    _refuse_others(chain, folder)
    code = carry_out(chain, folder, data_dir)
    if code == 0:
        _halve(folder / chain[-1].makes / WEIGHTS)
        print(f"{chain[-1].makes} is in {folder}, its weights in half precision, as they come with Headlight.")
    return code


def _refuse_others(chain: Sequence[Step], folder: Path) -> None:
    """Raise a CommandError if a model of the chain's names is there that no chain made, such as a shipped one."""
    for step in chain:
        model = folder / step.makes
        if step.command == "train" and model.exists() and not (model / STATUS).is_file():
            raise CommandError(
                "there is a model '{name}' in {folder} that was not made by this command; choose another folder "
                "with --checkpoints.",
                name=step.makes,
                folder=folder,
            )


def _halve(path: Path) -> None:
    """Store the weights in half precision, which halves the file; the cards say what it changes in the scores."""
    import safetensors.torch

    from model.checkpoint import write_weights

    write_weights(path, safetensors.torch.load_file(path), half=True)


if __name__ == "__main__":
    run_command(main)
