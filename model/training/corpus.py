"""Encoded training pairs in batches that depend only on the seed and the epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from model.config import PAD, ModelConfig
from model.data.batching import EncodedPairs, batches, collate, encode_pairs
from model.data.task import Example
from model.text.tokenizer import Tokenizer
from model.training.failure import TrainingError
from model.training.randomness import stream_seed
from model.wording import Later


@dataclass(frozen=True)
class MicroBatch:
    """One forward and backward pass of one process; with weight 0 it has no effect."""

    indices: tuple[int, ...]
    weight: float = 1.0
    epoch: int = 0


class Inputs(NamedTuple):
    """The arguments of :class:`model.training.loss.TrainingLoss` for one micro-batch.

    Whatever depends on values in a tensor (which rows have a label, whether any source is padded) is computed on the
    CPU when the batch is made, since reading it from a GPU would wait for the GPU's work.

    Shapes:
        src: [batch, src]; tgt_in: [batch, tgt]; labels: [token], without padding;
        rows: [token], the index of each label in [batch · tgt];
        keep_masks: [batch, src] and [batch, tgt] bool, the tokens that SimCut's second view sees.
    """

    src: Tensor
    tgt_in: Tensor
    labels: Tensor
    rows: Tensor
    keep_masks: tuple[Tensor, Tensor] | None = None
    padded: bool = True

    def to(self, device: torch.device) -> Inputs:
        """Copy the tensors to a device; on CUDA from pinned memory, while the previous batch is being computed."""
        if device.type == "cpu":
            return self

        def move(tensor: Tensor) -> Tensor:
            return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)

        masks = self.keep_masks
        keep_masks = None if masks is None else (move(masks[0]), move(masks[1]))
        src, tgt_in, labels, rows = map(move, self[:4])
        return Inputs(src, tgt_in, labels, rows, keep_masks, self.padded)


@dataclass(frozen=True)
class Update:
    """The batches of one weight update: `shares[rank]` are those of one process.

    `target_tokens` (the divisor of the loss) and `tokens` (source and target) count tokens of all processes, unpadded.
    """

    shares: tuple[tuple[MicroBatch, ...], ...]
    target_tokens: int
    tokens: int


class Corpus:
    """Encoded training pairs; the pairs of update `i` in epoch `e` are a pure function of seed, e and i.

    The same holds for the ids under BPE-dropout (`resample`); `pairs` and `lengths` are without dropout.
    """

    def __init__(
        self,
        pairs: EncodedPairs,
        *,
        seed: int,
        max_tokens: int,
        gradient_accumulation_steps: int,
        processes: int,
        resample: Callable[[int], EncodedPairs] | None = None,
    ) -> None:
        self.pairs = pairs
        self.seed = seed
        self.max_tokens = max_tokens
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.processes = processes
        self.lengths = pairs.lengths
        self.updates = lru_cache(maxsize=2)(self._updates)
        self.pairs_of = lru_cache(maxsize=2)(resample) if resample else lambda epoch: pairs

    def largest_batch(self) -> int:
        """Tokens of the longer side of the largest batch, padding included; BPE-dropout may add a few."""
        in_order = batches(self.lengths, max_tokens=self.max_tokens, seed=0, epoch=0, shuffle=False)
        return max(len(batch) * max(max(self.lengths[i]) for i in batch) for batch in in_order)

    def _updates(self, epoch: int) -> tuple[Update, ...]:
        """All updates of an epoch; every pair is in exactly one batch of one process."""
        lengths = self.pairs_of(epoch).lengths
        order = batches(lengths, max_tokens=self.max_tokens, seed=stream_seed(self.seed, "order"), epoch=epoch)
        size = self.gradient_accumulation_steps * self.processes
        return tuple(self._update(order[at : at + size], lengths, epoch) for at in range(0, len(order), size))

    def _update(self, order: Sequence[Sequence[int]], lengths: Sequence[tuple[int, int]], epoch: int) -> Update:
        rounds = -(-len(order) // self.processes)
        # Every process must take part in every round, or the others would wait for it: a process without a batch
        # gets a single example with weight 0.
        filler = MicroBatch(tuple(order[0][:1]), weight=0.0, epoch=epoch)
        padded = [MicroBatch(tuple(batch), epoch=epoch) for batch in order]
        padded += [filler] * (rounds * self.processes - len(order))
        shares = tuple(tuple(padded[rank :: self.processes]) for rank in range(self.processes))
        pair_lengths = [lengths[i] for batch in order for i in batch]
        target_tokens = sum(tgt for _, tgt in pair_lengths)
        return Update(shares, target_tokens, target_tokens + sum(src for src, _ in pair_lengths))

    def inputs(self, batch: MicroBatch) -> Inputs:
        """The tensors of a micro-batch, on the CPU."""
        tokens = collate(self.pairs_of(batch.epoch), batch.indices)
        labels, rows = real_labels(tokens.labels)
        return Inputs(tokens.src, tokens.tgt_in, labels, rows, padded=bool((tokens.src == PAD).any()))


def real_labels(labels: Tensor) -> tuple[Tensor, Tensor]:
    """The labels [batch, tgt] that are not padding, and the index of each in [batch · tgt]: two [token]."""
    flat = labels.flatten()
    rows = (flat != PAD).nonzero()[:, 0]
    return flat[rows], rows


def together(config: ModelConfig) -> Callable[[tuple[int, int]], int]:
    """The function from the tokens of a pair's two sides to the longest sequence that the model reads of it."""
    return max if config.has_encoder else sum


def fitting_pairs(
    examples: Sequence[Example], source: Tokenizer, target: Tokenizer, config: ModelConfig, *, what: str
) -> tuple[tuple[Example, ...], EncodedPairs]:
    """The examples that have a source and fit into the model's positions, and their ids.

    A decoder-only model has one sequence for both sides.

    Raises:
        TrainingError: there is no such example.
    """
    pairs, max_positions, read = encode_pairs(examples, source, target), config.max_positions, together(config)
    fitting = [i for i, sides in enumerate(pairs.lengths) if sides[0] > 1 and read(sides) <= max_positions]
    if not fitting:
        raise TrainingError(
            "no {split} example has between 1 and {max_positions} tokens; raise max_positions or look at the data.",
            split=Later(what),
            max_positions=max_positions,
        )
    return tuple(examples[i] for i in fitting), pairs.part(fitting)
