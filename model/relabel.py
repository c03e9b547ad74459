"""Data diversification: `python -m model.relabel --task dates --model dates --out FILE` lets models write new pairs.

A trained model translates the sources of a task's training pairs; a model of the reverse direction translates the
targets. Each translation forms a new pair with the sentence that it was made from, and `python -m model.train
--add-data FILE` trains on the union of these pairs with the originals. Source: Nguyen, Joty, Wu and Aw 2020, "Data
Diversification: A Simple Strategy For Neural Machine Translation", §3.1, with one model per direction (k = 1) and one
round (N = 1). Translations may be drawn instead of searched for: Edunov, Ott, Auli and Grangier 2018, "Understanding
Back-Translation at Scale", §3.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from model.commands import (
    CommandError,
    OneSentenceParser,
    add_checkpoints,
    add_length_penalty,
    add_own_data,
    run_command,
    typed,
)
from model.config import DecodeConfig
from model.data.files import direction, fits
from model.plurals import plural
from model.wording import Later

if TYPE_CHECKING:
    from model.checkpoint import LoadedModel
    from model.data import Task

BATCH = 96
"""Sentences of similar length translated at once: with five hypotheses each, their logits stay close to the cache."""


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.relabel"),
        description="Translate the training pairs of a task with trained models, and write the new pairs to a file "
        f"for {typed('model.train')} --add-data FILE.",
    )
    options.add_argument("--task", required=True, metavar="TASK", help="task whose training pairs are translated")
    options.add_argument("--model", metavar="NAME", help="model that writes targets")
    options.add_argument("--reverse", metavar="NAME", help="model that writes sources")
    options.add_argument("--out", required=True, type=Path, metavar="FILE.jsonl", help="file to write")
    options.add_argument("--overwrite", action="store_true", help="replace an existing file")
    options.add_argument("--beam", type=int, default=5, metavar="N", help="hypotheses of beam search (5)")
    options.add_argument("--translations", type=int, default=1, metavar="N", help="translations kept of each beam (1)")
    options.add_argument(
        "--near-reference",
        action="store_true",
        help="keep the translations of a beam that are most like the task's own, by BLEU, not the likeliest",
    )
    add_length_penalty(options)
    options.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:N or mps (default: %(default)s)")
    options.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    add_own_data(options)
    add_checkpoints(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    if not (options.model or options.reverse):
        raise CommandError("name a model that translates the sources (--model), the targets (--reverse), or both.")
    if options.out.exists() and not options.overwrite:
        raise CommandError("{out} exists already; choose another file or pass --overwrite.", out=options.out)
    if not options.out.parent.is_dir():
        raise CommandError("there is no folder {parent}; make it first.", parent=options.out.parent)
    if not os.access(options.out.parent, os.W_OK):  # better now than after the work
        raise CommandError(
            "{out} cannot be written: there is no permission to write to {parent}.",
            out=options.out,
            parent=options.out.parent,
        )
    config = DecodeConfig(
        method="beam",
        beam_size=options.beam,
        length_penalty=options.length_penalty,
        alpha=options.alpha,
    )
    chosen = _choice(options, config)
    import torch
    from tqdm import tqdm

    from model.checkpoint import load_model
    from model.folder import find_model, write_bytes
    from model.training.device import resolve_device

    device = resolve_device(options.device)
    torch.set_num_threads(1)  # a batch is too little work for several threads; two runs use two cores better
    task = _task(options)
    jobs = []
    for name, side in ((options.model, "target"), (options.reverse, "source")):
        if name is not None:
            loaded = load_model(find_model(options.checkpoints, name))
            _check_direction(loaded, task, side)
            loaded.model.to(device)
            jobs.append(_job(loaded, task, side))
    if left_out := sum(job.left_out for job in jobs):
        print(f"{plural(left_out, 'sentence')} left out as empty or too long.", file=sys.stderr)
    rows: list[str] = []
    with tqdm(total=sum(len(job.sentences) for job in jobs), unit=" sentences", smoothing=0.1) as bar:
        for job in jobs:
            bar.set_description(job.loaded.name, refresh=False)
            for batch in job.batches():
                pairs = _translated(job, batch, task, config, chosen)
                rows += [json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs]
                bar.update(len(batch))
    try:
        write_bytes(options.out, "".join(rows).encode())
    except OSError as error:
        raise CommandError(
            "{out} cannot be written: {reason}.", out=options.out, reason=error.strerror or error
        ) from None
    print(f"{len(rows):,} pairs written to {options.out}.")
    return 0


Choice = Callable[[Sequence[str], Sequence[str]], Sequence[str]]
"""Chooses the translations to keep, of the distinct ones of a sentence (best first) and its references."""


def _choice(options: argparse.Namespace, config: DecodeConfig) -> Choice:
    """The choice that --translations and --near-reference make.

    Raises:
        CommandError: more translations are to be kept than a beam has.
    """
    keep = options.translations
    if not 1 <= keep <= config.beam_size:
        raise CommandError(
            "--translations is a number from 1 to {beam_size}, the hypotheses of the beam.", beam_size=config.beam_size
        )
    if not options.near_reference:
        return lambda translations, _: translations[:keep]
    from sacrebleu.metrics.bleu import BLEU

    bleu = BLEU(effective_order=True)

    def nearest(translations: Sequence[str], references: Sequence[str]) -> Sequence[str]:
        scores = {text: bleu.sentence_score(text, list(references)).score for text in translations}
        return sorted(translations, key=lambda text: -scores[text])[:keep]  # equally near: the likelier first

    return nearest


def _task(options: argparse.Namespace) -> Task:
    """The task to translate: a built-in one, your own pairs from files, or those stored in the folder of a run."""
    from model.data import get_task
    from model.training.own_data import given_task, named, refuse_for_others

    refuse_for_others(options)
    if named(options):
        return given_task(options)
    return get_task(options.task, data_dir=options.data_dir, fetch=True)


def _check_direction(loaded: LoadedModel, task: Task, side: str) -> None:
    """Refuse a model whose languages do not fit the task, in the direction that writes `side`."""
    have = (loaded.data_config.src_lang, loaded.data_config.tgt_lang)
    want = direction(task.data, side)
    if not fits(have, want):
        raise CommandError(
            "'{name}' translates {have}, but to write each {side} of {task} takes {want}.",
            name=loaded.name,
            have=" → ".join(have),
            side=Later(side),
            task=task.name,
            want=" → ".join(want),
        )


def columns(task: Task) -> tuple[str, str]:
    """The keys of a pair's two sides: the languages, so that one file serves both directions, or source and target."""
    languages = (task.data.src_lang, task.data.tgt_lang)
    return languages if languages[0] != languages[1] else ("source", "target")


@dataclass(frozen=True)
class Sentence:
    """A sentence to translate, as text and as the ids that the model reads, and the task's translations of it."""

    text: str
    ids: tuple[int, ...]
    references: tuple[str, ...]


@dataclass(frozen=True)
class _Job:
    """The sentences that one model translates, shortest first, and the side that it writes ("target" or "source").

    `left_out` is the number of sentences that are empty or too long for it.
    """

    loaded: LoadedModel
    side: str
    sentences: tuple[Sentence, ...]
    left_out: int

    def batches(self) -> Iterator[tuple[Sentence, ...]]:
        """The sentences in full batches of similar length."""
        for at in range(0, len(self.sentences), BATCH):
            yield self.sentences[at : at + BATCH]


def _job(loaded: LoadedModel, task: Task, side: str) -> _Job:
    """The sentences of a task's training pairs that the model can read."""
    references: dict[str, list[str]] = defaultdict(list)  # a sentence with several of them is translated once
    for example in task.splits["train"]:
        read, written = (example.source, example.target)[:: 1 if side == "target" else -1]
        references[read].append(written)
    limit = loaded.model_config.longest_source
    encoded = [
        Sentence(text, tuple(loaded.source.encode(text).ids), tuple(theirs)) for text, theirs in references.items()
    ]
    readable = [sentence for sentence in encoded if 0 < len(sentence.ids) <= limit]
    readable.sort(key=lambda sentence: len(sentence.ids))
    return _Job(loaded, side, tuple(readable), len(encoded) - len(readable))


def _translated(
    job: _Job, batch: tuple[Sentence, ...], task: Task, config: DecodeConfig, chosen: Choice
) -> Iterator[dict[str, str]]:
    """The pairs of a batch; the key "made" names the column that the model wrote."""
    from model.data.batching import EncodedPairs
    from model.scoring import translate_n_best

    read, written = columns(task) if job.side == "target" else columns(task)[::-1]
    pairs = EncodedPairs(tuple(sentence.ids for sentence in batch), ((),) * len(batch))
    translations = translate_n_best(job.loaded.model, pairs, job.loaded.target, config)
    for sentence, written_by_beam in zip(batch, translations, strict=True):
        distinct = list(dict.fromkeys(text for text in written_by_beam if text.strip()))
        for translation in chosen(distinct, sentence.references):
            yield {read: sentence.text, written: translation, "made": written}


if __name__ == "__main__":
    run_command(main)
