"""Hold out sentences unlike the others: `python -m model.hold_out --task multi30k-en-de --data-dir DIR --out NEW`.

A validation split drawn at random shows the same scenes as the training split, so a recipe chosen on it may only be
better at home. Here the training sentences are clustered by their words, and whole clusters that stand apart most
clearly, such as those about bowling or the police, are held out. `python -m model.train --data-dir NEW` then trains
without them, and `python -m model.evaluate --source NEW/unlike.en --target NEW/unlike.de` scores on them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from model.commands import CommandError, OneSentenceParser, run_command, typed
from model.data import get_task
from model.data.multi30k import FILES
from model.data.task import Example
from model.folder import write_bytes

CLUSTER = 100
"""Sentences of a cluster, on average."""

DIMENSIONS = 64
"""Of the space in which sentences are compared."""

RARE, COMMON = 10, 0.03

ROUNDS = 30


def unlike(sentences: Sequence[str], n: int, *, seed: int = 0) -> list[int]:
    """Choose whole clusters of at most `n` sentences that stand apart most clearly, and return their indices in order.

    Clusters are those of k-means on the sphere; one stands apart by how much closer its sentences are to its centre
    than to the next one.
    """
    points = _points(sentences)
    labels, centres = _clusters(points, max(2, len(sentences) // CLUSTER), np.random.default_rng(seed))
    best, second = np.sort(points @ centres.T, axis=1)[:, :-3:-1].T
    apart = {label: float((best - second)[labels == label].mean()) for label in np.unique(labels)}
    chosen: list[int] = []
    for label in sorted(apart, key=lambda label: -apart[label]):
        members = np.flatnonzero(labels == label)
        if len(chosen) + len(members) <= n:
            chosen += members.tolist()
    return sorted(chosen)


def _points(sentences: Sequence[str]) -> np.ndarray:
    """A unit vector for each sentence, [sentence, DIMENSIONS]: the mean of its words' vectors, less that of all.

    A word's vector is made of the words beside it in sentences (positive pointwise mutual information: Bullinaria and
    Levy 2007), so that a word that goes with every scene, such as "older", hardly moves a sentence. Words of fewer than
    RARE sentences or of more than the share COMMON are left out.
    """
    words = [set(re.findall(r"\w+", sentence.lower())) for sentence in sentences]
    counts = Counter(word for found in words for word in found)
    telling = sorted(word for word, count in counts.items() if RARE <= count <= COMMON * len(sentences))
    column = {word: i for i, word in enumerate(telling)}
    has = np.zeros((len(sentences), len(column)), np.float32)
    for row, found in enumerate(words):
        has[row, [column[word] for word in found & column.keys()]] = 1.0
    together = has.T @ has
    expected = np.outer(has.sum(0), has.sum(0)) / len(sentences)
    information = np.log(np.maximum(together / expected, 1.0))
    np.fill_diagonal(information, 0.0)
    strength, directions = np.linalg.eigh(information)
    points = has @ (directions[:, -DIMENSIONS:] * np.sqrt(np.maximum(strength[-DIMENSIONS:], 0.0)))
    points /= np.maximum(has.sum(1, keepdims=True), 1.0)
    return _unit(points - points.mean(0))


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1; a row of zeros stays as it is."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def _clusters(points: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each point, [point], and the centres, by k-means on the sphere from `n` points drawn at random."""
    centres = points[rng.choice(len(points), n, replace=False)]
    for _ in range(ROUNDS):
        labels = (points @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, points)
        centres = np.where(sums.any(1, keepdims=True), _unit(sums), centres)
    return (points @ centres.T).argmax(1), centres


def write(path: Path, examples: Sequence[Example], languages: tuple[str, str]) -> None:
    """Write the two sides of examples to `path` with the languages as endings, one sentence a line."""
    for language, side in zip(languages, ("source", "target"), strict=True):
        text = "".join(f"{getattr(example, side)}\n" for example in examples)
        write_bytes(path.with_name(f"{path.name}.{language}"), text.encode())


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.hold_out"),
        description="Write a corpus without the training sentences whose scenes are least like the others, and these "
        "apart, to choose a recipe by them.",
    )
    options.add_argument("--task", required=True, metavar="TASK", help="multi30k task whose training pairs are parted")
    options.add_argument("--sentences", type=int, default=1000, metavar="N", help="pairs to hold out (%(default)s)")
    options.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of corpora that a task reads")
    options.add_argument("--out", required=True, type=Path, metavar="NEW", help="folder to make")
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    task = get_task(options.task, data_dir=options.data_dir, fetch=True)
    if not task.from_folder:
        raise CommandError("{task} is generated, so it has no scenes: name a multi30k task.", task=task.name)
    train = task.splits["train"]
    if not 0 < options.sentences < len(train) // 2:
        raise CommandError("--sentences is a number from 1 to {most}.", most=len(train) // 2 - 1)
    try:
        options.out.mkdir(parents=True)
    except OSError as error:
        raise CommandError(
            "{out} cannot be made: {reason}.", out=options.out, reason=error.strerror or error
        ) from error
    held = set(unlike([example.source for example in train], options.sentences))
    parts = {split: task.splits[split] for split in FILES} | {
        "train": tuple(example for i, example in enumerate(train) if i not in held)
    }
    languages = (task.data.src_lang, task.data.tgt_lang)
    for split, stem in FILES.items():
        write(options.out / stem, parts[split], languages)
    write(options.out / "unlike", [train[i] for i in sorted(held)], languages)
    print(f"{len(held):,} pairs held out in {options.out}, {len(parts['train']):,} left to train on.")
    return 0


if __name__ == "__main__":
    run_command(main)
