"""Data diversification: `python -m model.relabel --task dates --model dates --out FILE` writes pairs made by models.

A trained model translates the sources of a task's training pairs; a model of the reverse direction translates the
targets. Each translation forms a new pair with the sentence that it was made from, and `python -m model.train
--add-data FILE` trains on the union of these pairs with the originals. Source: Nguyen, Joty, Wu and Aw 2020, "Data
Diversification: A Simple Strategy For Neural Machine Translation", §3.1, with one model per direction (k = 1) and one
round (N = 1).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from model.commands import CommandError, OneSentenceParser, add_checkpoints, add_length_penalty, run_command, typed
from model.config import DecodeConfig

if TYPE_CHECKING:
    from model.checkpoint import LoadedModel
    from model.data import Task

BATCH = 96
"""Sentences of similar length translated at once: with five hypotheses each, their logits stay close to the cache."""


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    made = OneSentenceParser(
        prog=typed("model.relabel"),
        description="Translate the training pairs of a task with trained models, and write the new pairs to a file "
        f"for {typed('model.train')} --add-data FILE.",
    )
    made.add_argument("--task", required=True, metavar="TASK", help="task whose training pairs are translated")
    made.add_argument("--model", metavar="NAME", help="model that translates the source sentences")
    made.add_argument("--reverse", metavar="NAME", help="model of the reverse direction, for the target sentences")
    made.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl", help="file to write")
    made.add_argument("--overwrite", action="store_true", help="replace an existing file")
    made.add_argument("--beam", type=int, default=5, metavar="N", help="hypotheses of beam search (%(default)s)")
    add_length_penalty(made)
    made.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:N or mps (default: %(default)s)")
    made.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    add_checkpoints(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code.

    Raises:
        CommandError and this project's other errors: one sentence each.
    """
    options = parser().parse_args(arguments)
    if not (options.model or options.reverse):
        raise CommandError("name a model that translates the sources (--model), the targets (--reverse), or both.")
    if options.out.exists() and not options.overwrite:
        raise CommandError(f"{options.out} exists already; choose another file or pass --overwrite.")
    if not options.out.parent.is_dir():
        raise CommandError(f"there is no folder {options.out.parent}; make it first.")
    if not os.access(options.out.parent, os.W_OK):  # said now and not after the work
        raise CommandError(f"{options.out} cannot be written: nothing may be written into {options.out.parent}.")
    config = DecodeConfig(
        method="beam", beam_size=options.beam, length_penalty=options.length_penalty, alpha=options.alpha
    )
    import torch

    from model.checkpoint import find_model, load_model
    from model.data import get_task
    from model.folder import write_bytes
    from model.training.device import resolve_device

    device = resolve_device(options.device)
    torch.set_num_threads(1)  # a batch is too little work for several threads; two runs use two cores better
    task = get_task(options.task, data_dir=options.data_dir, fetch=True)
    rows: list[str] = []
    for name, side in ((options.model, "target"), (options.reverse, "source")):
        if name is None:
            continue
        loaded = load_model(find_model(options.checkpoints, name))
        _check_direction(loaded, task, side)
        loaded.model.to(device)
        rows += [json.dumps(row, ensure_ascii=False) + "\n" for row in _pairs(loaded, task, side, config)]
    try:
        write_bytes(options.out, "".join(rows).encode())
    except OSError as error:
        raise CommandError(f"{options.out} cannot be written: {error.strerror or error}.") from None
    print(f"{len(rows):,} pairs written to {options.out}.")
    return 0


def _check_direction(loaded: LoadedModel, task: Task, side: str) -> None:
    """Refuse a model whose languages are not those of the task, in the direction that writes `side`."""
    have = (loaded.data_config.src_lang, loaded.data_config.tgt_lang)
    want = (task.data.src_lang, task.data.tgt_lang)
    if side == "source":
        want = want[::-1]
    if have != want and "xx" not in want:  # a person's own data need not say its languages
        raise CommandError(
            f"'{loaded.name}' translates {have[0]} to {have[1]}, but the {side}s of {task.name} need "
            f"{want[0]} to {want[1]}."
        )


def columns(task: Task) -> tuple[str, str]:
    """The keys of a pair's two sides: the languages, so that one file serves both directions, or source and target."""
    languages = (task.data.src_lang, task.data.tgt_lang)
    return languages if languages[0] != languages[1] else ("source", "target")


def _pairs(loaded: LoadedModel, task: Task, side: str, config: DecodeConfig) -> Iterator[dict[str, str]]:
    """The training pairs with one side, "source" or "target", written by the model; those it cannot read are left out.

    The key "made" names the column that the model wrote.
    """
    from tqdm import tqdm

    from model.data.batching import EncodedPairs
    from model.scoring import translate_pairs

    given, made = columns(task) if side == "target" else columns(task)[::-1]
    texts = [example.source if side == "target" else example.target for example in task.splits["train"]]
    texts = list(dict.fromkeys(texts))  # a sentence with several translations has one translation by the model
    limit = loaded.model_config.max_positions - 1
    encoded = [(text, loaded.source.encode(text).ids) for text in texts]
    readable = [(text, ids) for text, ids in encoded if 0 < len(ids) <= limit]
    # Sorted by length over all sentences, so that batches of one length are full.
    readable.sort(key=lambda each: len(each[1]))
    if len(readable) < len(texts):
        print(f"{len(texts) - len(readable):,} sentences left out as empty or too long.", file=sys.stderr)
    with tqdm(total=len(readable), desc=loaded.name, unit=" sentences", smoothing=0.1) as bar:
        for at in range(0, len(readable), BATCH):
            batch = readable[at : at + BATCH]
            pairs = EncodedPairs(tuple(ids for _, ids in batch), ((),) * len(batch))
            for (text, _), translation in zip(
                batch, translate_pairs(loaded.model, pairs, loaded.target, config), strict=True
            ):
                if translation.strip():
                    yield {given: text, made: translation, "made": made}
            bar.update(len(batch))


if __name__ == "__main__":
    run_command(main)
