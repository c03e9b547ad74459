"""The options of `python -m model.train`, and its help."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from model.commands import OneSentenceParser, add_checkpoints, add_own_data, add_retired, typed
from model.config import DataConfig, ModelConfig, TrainConfig
from model.data import TASKS
from model.presets import PRESETS


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    made = OneSentenceParser(
        prog=typed("model.train"),
        description="Train a model on a task and store it as a folder that the app and the other commands can open.",
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--task", metavar="TASK", help="task to learn, listed below")
    made.add_argument("--name", help="name of the new model, which is also the name of its folder")
    made.add_argument("--preset", metavar="PRESET", help="settings to start from (default: the task's own)")
    made.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="change settings, listed below"
    )
    made.add_argument(
        "--first",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="train in two parts: a model NAME-first with these settings on top of --set's, then NAME from its weights",
    )
    made.add_argument(
        "--init",
        metavar="NAME",
        help="start from the weights and tokenizers of this model; d_ff and the numbers of layers may be larger",
    )
    made.add_argument("--like", metavar="NAME", help="train as this model was: its task, data and settings")
    made.add_argument("--overwrite", action="store_true", help="replace an existing model of this name")
    made.add_argument("--resume", metavar="NAME", help="continue a run that was stopped or killed")
    made.add_argument(
        "--steps", type=int, metavar="N", help="with --resume: train a finished run longer, to N updates in all"
    )
    made.add_argument("--device", default=None, help="auto, cpu, cuda, cuda:N or mps (default: auto)")
    made.add_argument("--precision", default=None, help="auto, fp32 or bf16 (default: auto)")
    made.add_argument("--compile", action="store_true", help="use torch.compile, which speeds up long runs")
    made.add_argument(
        "--threads", type=int, default=None, metavar="N", help="CPU threads (default: by the size of a batch)"
    )
    add_retired(made, "--tune", "precision and threads follow from the machine and the sizes; leave it out.")
    made.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="folder with the corpora that tasks read, such as Multi30k"
    )
    made.add_argument(
        "--add-data",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help=f"train on these pairs too, such as those of {typed('model.relabel')} (TSV, CSV or JSONL)",
    )
    add_own_data(made)
    made.add_argument(
        "--now", action="store_true", help="start at once, without waiting for another run in this folder"
    )
    made.add_argument("--dry-run", action="store_true", help="estimate memory and time of the run, and write nothing")
    made.add_argument("--json", action="store_true", help="print the dry run as JSON")
    add_checkpoints(made)
    made.set_defaults(then=None, own_from=None, added_as=None)  # see model.training.parts and model.training.parts
    return made


def _epilog() -> str:
    lines = ["examples:"]
    lines += [f"  {typed('model.train')} --task reverse --name my-reverse"]
    lines += [f"  {typed('model.train')} --task reverse --name wide --set d_model=128 max_steps=500 seed=7"]
    lines += ["  torchrun --nproc-per-node=2 -m model.train --task dates --name my-dates"]
    lines += ["", "tasks:", *(f"  {name}" for name in TASKS)]
    lines += ["", "presets:", *(f"  {preset.name:<18} {preset.title}" for preset in PRESETS.values())]
    lines += ["", "settings for --set, with their defaults:"]
    for cls in (ModelConfig, DataConfig, TrainConfig):
        for field in dataclasses.fields(cls):
            if field.name not in ("src_vocab_size", "tgt_vocab_size", "architecture", "task"):
                lines.append(f"  {field.name}={field.default}".ljust(30) + f"  {field.metadata['help']}")
    return "\n".join(lines)
