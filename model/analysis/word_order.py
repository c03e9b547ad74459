"""Measure how a model uses token order: without positions, with shuffled tokens, and by length."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import EOS, DecodeConfig
from model.data.batching import encode_pairs, pad
from model.data.task import Example
from model.decoding.decode import decode_batch
from model.decoding.search import follow, greedy, output_rules
from model.edits import patch
from model.recording import AttentionRecorder
from model.tap import Tap, compose
from model.text.tokenizer import Tokenizer
from model.transformer import Transformer


def no_positions(model: Transformer, src: Tensor) -> Tap:
    """A tap that leaves out the positions of the source `src`, [batch, src] ids."""
    scaled = model.src_embedding(src) * model.embedding_factor
    return patch(model.config, {"src.positions": lambda _: scaled})


@dataclass(frozen=True, eq=False)
class Shuffle:
    """Encoder self-attention of a sentence and of the same tokens in another order.

    Shapes:
        before: [layer, head, query, key] in the original order; after: the same for the shuffled order, with rows and
        columns restored to the original order. path, shuffled_path: the translation of each (target ids).
    """

    before: NDArray[np.float32]
    after: NDArray[np.float32]
    path: tuple[int, ...]
    shuffled_path: tuple[int, ...]

    @property
    def difference(self) -> float:
        """The largest difference between two weights; about 1e-7 if attention depends on the tokens alone."""
        return float(np.abs(self.before - self.after).max())


@dataclass(frozen=True, eq=False)
class Answer:
    """Encoder self-attention [layer, head, query, key] of one sentence, and its translation (target ids)."""

    weights: NDArray[np.float32]
    path: tuple[int, ...]


@torch.inference_mode()
def answer(model: Transformer, ids: Sequence[int], *, positions: bool = True) -> Answer:
    """Translate source `ids` (with <eos>) greedily, with or without positions in the encoder."""
    src, recorder = torch.tensor([list(ids)]), AttentionRecorder()
    state = model.start(src, tap=compose(None if positions else no_positions(model, src), recorder))
    limit = DecodeConfig().length_limit(len(ids), model.config.max_positions)
    (hypothesis,) = follow(greedy(model.step, state, limit=limit, rules=output_rules(model.config)))
    return Answer(recorder.weights("encoder"), hypothesis.tokens)


def side_by_side(original: Answer, shuffled: Answer, order: Sequence[int]) -> Shuffle:
    """Combine the answers to a sentence and to its tokens in `order`."""
    restored = np.argsort(np.asarray(order))
    after = shuffled.weights[:, :, restored][:, :, :, restored]
    return Shuffle(original.weights, after, original.path, shuffled.path)


def shuffle(model: Transformer, ids: Sequence[int], order: Sequence[int], *, positions: bool = True) -> Shuffle:
    """Translate source `ids` (with <eos>) as given and in `order`, with or without positions in the encoder.

    Raises:
        ValueError: `order` does not name every token once.
    """
    if sorted(order) != list(range(len(ids))):
        raise ValueError(f"an order of {len(ids)} tokens names each of them once, not {list(order)}.")
    original, shuffled = (answer(model, tokens, positions=positions) for tokens in (ids, [ids[i] for i in order]))
    return side_by_side(original, shuffled, order)


@dataclass(frozen=True)
class Length:
    """Results for one source length (in tokens, without <eos>): the sentences, and those that are exactly right."""

    tokens: int
    sentences: int
    right: int


@torch.inference_mode()
def by_length(
    model: Transformer, source: Tokenizer, target: Tokenizer, examples: Sequence[Example], *, most: int = 10
) -> tuple[Length, ...]:
    """Decode up to `most` of the examples of each source length greedily and count those that are exactly right.

    A length beyond the end of a learned position table has 0 right.
    """
    pairs = encode_pairs(examples, source, target)
    groups: dict[int, list[int]] = {}
    for i, ids in enumerate(pairs.sources):
        group = groups.setdefault(len(ids), [])
        if len(group) < most:
            group.append(i)
    lengths = []
    for length, group in sorted(groups.items()):
        right = 0
        if model.config.positions != "learned" or length < model.config.max_positions:
            src = pad([(*pairs.sources[i], EOS) for i in group])
            for i, best in zip(group, decode_batch(model, src, DecodeConfig()), strict=True):
                right += target.decode(best[0].tokens) == examples[i].target
        lengths.append(Length(length, len(group), right))
    return tuple(lengths)


def longest(examples: Sequence[Example], source: Tokenizer) -> int:
    """The source length (without <eos>) of the longest example, among the 200 with the most characters."""
    candidates = sorted(examples, key=lambda example: -len(example.source))[:200]
    return max((len(source.encode(example.source)) for example in candidates), default=0)


def shuffled_order(length: int, seed: int) -> tuple[int, ...]:
    """A random order of a sentence's tokens, with <eos> last; never the original order if there is another.

    `length` counts <eos>; the same seed gives the same order.
    """
    words = list(range(length - 1))
    rng = random.Random(f"shuffle {seed}")
    shuffled = words[:]
    while len(words) > 1 and shuffled == words:
        rng.shuffle(shuffled)
    return (*shuffled, length - 1)
