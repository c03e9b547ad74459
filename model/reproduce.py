"""Train a model that came with Headlight again, from its corpus: `python -m model.reproduce NAME --checkpoints DIR`.

This is for models that take several commands, of which each builds on what an earlier one made. What has been made is
not made again, so the same command continues after an interruption.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from model.commands import CommandError, OneSentenceParser, run_command, typed
from model.config import nearest
from model.folder import STATUS, WEIGHTS


@dataclass(frozen=True)
class Step:
    """One command of a chain: `model.train` or `model.relabel`, the name of what it makes, and its options.

    Of the options, `--name`, `--out` and folders are left out: they follow from the name and from where the chain runs.
    """

    command: Literal["train", "relabel"]
    makes: str
    options: str
    added: tuple[str, ...] = ()

    def words(self, folder: Path, data_dir: Path | None) -> list[str]:
        """The whole command after `python -m`, with everything it makes and reads in `folder`."""
        words = [f"model.{self.command}", *self.options.split(), "--checkpoints", str(folder)]
        words += ["--name", self.makes] if self.command == "train" else ["--out", str(folder / self.makes)]
        words += ["--add-data", *(str(folder / name) for name in self.added)] if self.added else []
        return [*words, *_corpora(data_dir)]

    def is_done(self, folder: Path) -> bool:
        """Whether what it makes is there, whole: a file is written at once, a model says that it has finished."""
        from model.training.runfolder import read_status

        made = folder / self.makes
        return made.is_file() or (made.is_dir() and read_status(made).get("state") == "finished")

    def carry_out(self, folder: Path, data_dir: Path | None) -> None:
        """Do it, or what is left of it.

        Raises:
            CommandError and this project's other errors: it cannot be carried out.
        """
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


_SIZES = "norm_first=true share_embeddings=all max_positions=128 schedule=cosine"
_COMMON = f"--preset small --device cpu --precision bf16 --threads 1 --set {_SIZES} patience=0 eval_sentences=300"
_EVERY = "eval_every=500 save_every=250 snapshots=12"

# A model of each direction learns from the corpus alone; each translates the training sentences of its language; and
# the shipped models go on from there, with the corpus and both sets of translations (Nguyen, Joty, Wu and Aw 2020).
_MULTI30K = (
    Step(
        "train",
        "multi30k-en-de-alone",
        f"--task multi30k-en-de {_COMMON} {_EVERY} dropout=0.2 learning_rate=2e-3 warmup_steps=400 max_steps=7500 "
        "average_checkpoints=10 "
        "--first learning_rate=3e-3 warmup_steps=800 max_steps=8000 bpe_dropout=0.1 average_checkpoints=5 "
        "save_every=500",
    ),
    Step(
        "train",
        "multi30k-de-en-alone",
        f"--task multi30k-de-en {_COMMON} {_EVERY} dropout=0.15 learning_rate=3e-3 warmup_steps=500 max_steps=4000 "
        "average_checkpoints=5",
    ),
    Step("relabel", "ende.jsonl", "--task multi30k-en-de --model multi30k-en-de-alone"),
    Step("relabel", "deen.jsonl", "--task multi30k-de-en --model multi30k-de-en-alone"),
)


def _student(name: str) -> Step:
    """The shipped model of one direction, from the weights of the one that learned from the corpus alone."""
    return Step(
        "train",
        name,
        f"--task {name} --init {name}-alone {_COMMON} {_EVERY} dropout=0.2 learning_rate=2e-3 warmup_steps=400 "
        "max_steps=7000 average_checkpoints=10",
        added=("ende.jsonl", "deen.jsonl"),
    )


CHAINS: dict[str, tuple[Step, ...]] = {
    name: (*_MULTI30K, _student(name)) for name in ("multi30k-en-de", "multi30k-de-en")
}


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    made = OneSentenceParser(
        prog=typed("model.reproduce"),
        description="Carry out all commands by which a model that came with Headlight was made, and leave out those "
        "that have been carried out in the same folder.",
        epilog=f"models: {', '.join(CHAINS)}. The card of any other model names the single command that made it.",
    )
    made.add_argument("name", metavar="NAME", help="a model that came with Headlight, listed below")
    made.add_argument(
        "--checkpoints", required=True, type=Path, metavar="DIR", help="folder for the new models and their data"
    )
    made.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    made.add_argument("--dry-run", action="store_true", help="print the commands, and which of them are done")
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code.

    Raises:
        CommandError and this project's other errors: one sentence each.
    """
    options = parser().parse_args(arguments)
    if options.name not in CHAINS:
        raise CommandError(
            f"nothing is known of how to make '{options.name}'{nearest(options.name, CHAINS)} The card of a model "
            "names the command that made it."
        )
    return carry_out(CHAINS[options.name], options.checkpoints, options.data_dir, dry_run=options.dry_run)


def carry_out(chain: Sequence[Step], folder: Path, data_dir: Path | None, *, dry_run: bool = False) -> int:
    """Carry out the steps of a chain that are not done; returns the exit code.

    Raises:
        CommandError and this project's other errors: a step cannot be carried out.
    """
    if not dry_run:
        _refuse_others(chain, folder)
        folder.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(chain, start=1):
        module, *words = step.words(folder, data_dir)
        told = f"{typed(module)} {shlex.join(words)}"
        done = step.is_done(folder)
        print(f"[{number}/{len(chain)}] {'done: ' if done else ''}{told}", file=None if dry_run else sys.stderr)
        if done or dry_run:
            continue
        step.carry_out(folder, data_dir)
        if not step.is_done(folder):
            print("Stopped; the same command continues from here.", file=sys.stderr)
            return 130
    if not dry_run:
        _halve(folder / chain[-1].makes / WEIGHTS)
        print(f"{chain[-1].makes} is in {folder}, its weights in half precision, as they come with Headlight.")
    return 0


def _refuse_others(chain: Sequence[Step], folder: Path) -> None:
    """Refuse a folder with finished models of the chain's names that no chain made there, such as the shipped ones.

    Raises:
        CommandError: there is such a model.
    """
    for step in chain:
        made = folder / step.makes
        if step.command == "train" and made.exists() and not (made / STATUS).is_file():
            raise CommandError(
                f"there is a model '{step.makes}' in {folder} that is not from this command; choose another folder "
                "with --checkpoints."
            )


def _halve(path: Path) -> None:
    """Store the weights in half precision: half the bytes; what it changes in the scores is on the models' cards."""
    import safetensors.torch

    from model.checkpoint import write_weights

    write_weights(path, safetensors.torch.load_file(path), half=True)


if __name__ == "__main__":
    run_command(main)
