"""Batches of sentence pairs: pure functions of the data, the seed and the epoch, so that a run can be resumed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.config import EOS, PAD, SOS
from model.data.task import DataError, Example
from model.text.subwords import SubwordTokenizer
from model.text.tokenizer import Tokenizer

Ids = tuple[int, ...]


@dataclass(frozen=True)
class EncodedPairs:
    """Sentence pairs as ids, without specials."""

    sources: tuple[Ids, ...]
    targets: tuple[Ids, ...]

    def __len__(self) -> int:
        return len(self.sources)

    def part(self, indices: Sequence[int]) -> EncodedPairs:
        """The pairs at these indices."""
        return EncodedPairs(tuple(self.sources[i] for i in indices), tuple(self.targets[i] for i in indices))

    @property
    def lengths(self) -> list[tuple[int, int]]:
        """Tokens of each pair as the model reads them: source with ``<eos>``, target with ``<sos>``."""
        return [(len(s) + 1, len(t) + 1) for s, t in zip(self.sources, self.targets, strict=True)]


@dataclass(frozen=True)
class Batch:
    """Padded ids of some pairs.

    Shapes: src [batch, src], ending in ``<eos>``; tgt_in [batch, tgt], beginning with ``<sos>``; labels [batch, tgt],
    ending in ``<eos>``, the token that follows each of tgt_in. All int64, padded with `PAD` on the right.
    """

    src: Tensor
    tgt_in: Tensor
    labels: Tensor


def encode_pairs(examples: Sequence[Example], source: Tokenizer, target: Tokenizer) -> EncodedPairs:
    """The ids of both sides of each example."""
    return EncodedPairs(
        sources=tuple(source.encode(example.source).ids for example in examples),
        targets=tuple(target.encode(example.target).ids for example in examples),
    )


def resampling(
    examples: Sequence[Example],
    source: Tokenizer,
    target: Tokenizer,
    whole: EncodedPairs,
    *,
    dropout: float,
    seed: int,
    longest: int,
) -> Callable[[int], EncodedPairs]:
    """Return a function that segments the pairs anew for an epoch (BPE-dropout), from the seed and the epoch alone.

    A side that would be longer than `longest` ids is segmented without dropout, as in `whole`.

    Raises:
        DataError: the tokenizers have no subwords.
    """
    if not isinstance(source, SubwordTokenizer) or not isinstance(target, SubwordTokenizer):
        raise DataError("BPE-dropout needs tokenizer=subwords.")
    source_words = [source.keys(example.source) for example in examples]
    target_words = [target.keys(example.target) for example in examples]

    def epoch_pairs(epoch: int) -> EncodedPairs:
        rng = random.Random(f"bpe-dropout {seed} {epoch}")
        sources, targets = (
            tuple(
                dropped if len(dropped := tokenizer.encode_with_dropout(words, dropout, rng)) <= longest else ids
                for words, ids in zip(texts, plain, strict=True)
            )
            for tokenizer, texts, plain in (
                (source, source_words, whole.sources),
                (target, target_words, whole.targets),
            )
        )
        return EncodedPairs(sources, targets)

    return epoch_pairs


def batches(
    lengths: Sequence[tuple[int, int]], *, max_tokens: int, seed: int, epoch: int, shuffle: bool = True
) -> list[tuple[int, ...]]:
    """Indices of the pairs in each batch of one epoch; every pair is in exactly one.

    Pairs are grouped by length; pairs of equal length are reordered each epoch, and the batches are shuffled. A batch
    holds at most `max_tokens` source tokens and as many target tokens, padding included; a longer pair makes a batch of
    its own. Without `shuffle`, seed and epoch have no effect.
    """
    sizes = np.asarray(lengths, dtype=np.int64).reshape(-1, 2)
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(sizes)) if shuffle else np.arange(len(sizes))
    longest = sizes.max(axis=1)
    # Sorting by the longer side, then by the source, keeps padding small on both sides of a batch.
    order = order[np.lexsort((sizes[order, 0], longest[order]))]
    filled: list[tuple[int, ...]] = []
    batch: list[int] = []
    for index, size in zip(order.tolist(), longest[order].tolist(), strict=True):
        if batch and (len(batch) + 1) * size > max_tokens:
            filled.append(tuple(batch))
            batch = []
        batch.append(index)
    if batch:
        filled.append(tuple(batch))
    return [filled[i] for i in rng.permutation(len(filled))] if shuffle else filled


def collate(pairs: EncodedPairs, indices: Sequence[int]) -> Batch:
    """The pairs with these indices as padded tensors; no indices give tensors of batch size 0."""
    part = pairs.part(indices)
    return Batch(
        src=pad([(*ids, EOS) for ids in part.sources]),
        tgt_in=pad([(SOS, *ids) for ids in part.targets]),
        labels=pad([(*ids, EOS) for ids in part.targets]),
    )


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of ids as one int64 tensor [row, longest], padded with `PAD` on the right."""
    width = max(map(len, rows), default=0)
    filled = np.full((len(rows), width), PAD, dtype=np.int64)
    for row, ids in zip(filled, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(filled)
