"""Train a model that came with Headlight again, from its corpus: `python -m model.reproduce NAME --checkpoints DIR`.

This is for models that take several commands, of which each builds on what an earlier one made. What has been made is
not made again, so the same command continues after an interruption.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from model.chains import CHAINS, Step, carry_out, needed
from model.commands import CommandError, OneSentenceParser, run_command, typed
from model.config import nearest
from model.folder import STATUS, WEIGHTS


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
    made.add_argument(
        "--only", nargs="+", default=[], metavar="WHAT", help="make only these models and files, and what they need"
    )
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
    chain = CHAINS[options.name]
    makes = [step.makes for step in chain]
    for name in options.only:
        if name not in makes:
            raise CommandError(f"'{name}' is not among what is made on the way to {options.name}: {', '.join(makes)}.")
    steps = needed(chain, options.only or makes, options.checkpoints)
    if options.dry_run:
        return carry_out(steps, options.checkpoints, options.data_dir, dry_run=True)
    if options.only:
        _refuse_others(steps, options.checkpoints)
        return carry_out(steps, options.checkpoints, options.data_dir)
    return reproduce(steps, options.checkpoints, options.data_dir)


def reproduce(chain: Sequence[Step], folder: Path, data_dir: Path | None) -> int:
    """Carry out a chain that ends in a shipped model, and store that one's weights as they are shipped.

    Returns the exit code.

    Raises:
        CommandError and this project's other errors: a step cannot be carried out.
    """
    _refuse_others(chain, folder)
    code = carry_out(chain, folder, data_dir)
    if code == 0:
        _halve(folder / chain[-1].makes / WEIGHTS)
        print(f"{chain[-1].makes} is in {folder}, its weights in half precision, as they come with Headlight.")
    return code


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
