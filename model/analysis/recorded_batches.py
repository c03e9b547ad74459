"""Run models on many sentences, in padded batches, and record every head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from model.analysis.mask_effects import PaddedBatch, padded_batch
from model.analysis.word_alignment import WordGold, aligned_tokens, word_gold
from model.architectures import empty_transformer
from model.config import EOS, SPECIALS, AttentionKind, DecodeConfig, ModelConfig
from model.data.batching import EncodedPairs, Ids, batches, pad
from model.data.task import Alignment, Example
from model.decoding.decode import decode_batch
from model.masks import padding_mask
from model.recording import AttentionRecorder
from model.text.tokenizer import Encoding, Tokenizer
from model.trace import VISIBLE, AttentionTrace, future_mask, maps_of
from model.transformer import Transformer

BATCH_TOKENS = 1024  # small enough to report progress and check for a stop a few times a second

Weights = dict[AttentionKind, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Sample:
    """Sentences to analyse: tokenised sources, the target ids that are read with them, alignments and references.

    All tuples have one entry per sentence. `targets` are without specials. Entries of `alignments`, `links` (between
    words) and `references` are None if unknown. `left_out` counts the sentences that were empty or too long.
    """

    sources: tuple[Encoding, ...]
    targets: tuple[Ids, ...]
    alignments: tuple[Alignment | None, ...]
    references: tuple[str | None, ...]
    left_out: int = 0
    links: tuple[WordGold | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.links:
            object.__setattr__(self, "links", (None,) * len(self.sources))

    def __len__(self) -> int:
        return len(self.sources)

    def part(self, indices: Sequence[int]) -> Sample:
        """The sentences at these indices."""
        return Sample(
            tuple(self.sources[i] for i in indices),
            tuple(self.targets[i] for i in indices),
            tuple(self.alignments[i] for i in indices),
            tuple(self.references[i] for i in indices),
            links=tuple(self.links[i] for i in indices),
        )

    @property
    def pairs(self) -> EncodedPairs:
        """Sources and targets as ids."""
        return EncodedPairs(tuple(source.ids for source in self.sources), self.targets)


@dataclass(frozen=True, eq=False)
class Observed:
    """One sentence of a sample, as read by a model.

    Shapes: src_ids and src_counts [src], with <eos>: the ids, and how often each occurred in training (0 for specials
    and without counts); read_ids [tgt], <sos> first. alignment: the source positions of each target token without
    <eos>, or None. links: sure and possible links between words, or None.
    """

    trace: AttentionTrace
    src_ids: NDArray[np.int64]
    src_counts: NDArray[np.int64]
    read_ids: NDArray[np.int64]
    alignment: Alignment | None = None
    links: WordGold | None = None


def written_sample(examples: Sequence[Example], source: Tokenizer, target: Tokenizer, longest: int) -> Sample:
    """A sample with the examples' reference translations.

    `longest` is the maximum number of tokens per side, with <sos> or <eos>; longer pairs are left out.
    """
    pairs = []
    for example in examples:
        src, tgt = source.encode(example.source), target.encode(example.target)
        if src.ids and tgt.ids and max(len(src), len(tgt)) < longest:
            alignment = gold_alignment(example, src, tgt)
            links = None if example.links is None else word_gold(example.links, src, tgt)
            pairs.append((src, tgt.ids, alignment, example.target, links))
    return _sample(pairs, len(examples) - len(pairs))


def gold_alignment(example: Example, source: Encoding, target: Encoding) -> Alignment | None:
    """The gold source tokens of each target token, from the example's alignment or its links between words."""
    if example.alignment is None and example.links is not None:
        return aligned_tokens(example.links, source, target)
    fits = example.alignment is not None and len(example.alignment) == len(target)
    return example.alignment if fits else None


def translated_sample(
    model: Transformer,
    texts: Sequence[str],
    source: Tokenizer,
    *,
    references: Sequence[str | None] = (),
    check: Callable[[], None] = lambda: None,
) -> Sample:
    """A sample with the model's own (greedy) translations; `check` is called before each batch and may raise.

    A translation that did not end within its length limit is used as it is.
    """
    encodings = [source.encode(text) for text in texts]
    references = [*references, *[None] * (len(texts) - len(references))]
    readable = [i for i, encoding in enumerate(encodings) if 0 < len(encoding) <= model.config.longest_source]
    targets: dict[int, Ids] = {}
    lengths = [(len(encodings[i]) + 1, len(encodings[i]) + 1) for i in readable]
    for batch in batches(lengths, max_tokens=BATCH_TOKENS, seed=0, epoch=0, shuffle=False):
        check()
        rows = [readable[i] for i in batch]
        decoded = decode_batch(model, pad([(*encodings[i].ids, EOS) for i in rows]), DecodeConfig())
        for i, hypotheses in zip(rows, decoded, strict=True):
            targets[i] = hypotheses[0].tokens[: model.config.max_positions - 1]
    pairs = [(encodings[i], targets[i], None, references[i], None) for i in readable]
    return _sample(pairs, len(texts) - len(readable))


def _sample(
    pairs: Sequence[tuple[Encoding, Ids, Alignment | None, str | None, WordGold | None]], left_out: int
) -> Sample:
    sources, targets, alignments, references, links = zip(*pairs, strict=True) if pairs else ((),) * 5
    return Sample(tuple(sources), tuple(targets), tuple(alignments), tuple(references), left_out, tuple(links))


def untrained_like(model: Transformer, seed: int) -> Transformer:
    """A model of the same architecture with newly initialised weights, ready for use."""
    twin = empty_transformer(model.config)
    twin.reset_parameters(torch.Generator().manual_seed(seed))
    return twin.eval().requires_grad_(False)


def observe(
    models: Sequence[Transformer],
    sample: Sample,
    source: Tokenizer,
    target: Tokenizer,
) -> Iterator[tuple[int, Observed, Weights]]:
    """Run every model on every sentence, teacher-forced on the sample's targets, in batches of similar length.

    Yields for each sentence its index, the observation of the first model, and the weights of all models by kind. All
    models must have the same architecture.

    Shapes: weights [model, layer, head, query, key] float32, without padding.
    """
    counts = np.array([0] * len(SPECIALS) + list(source.counts), dtype=np.int64)
    config = models[0].config
    paths = [_path(config, sample, index) for index in range(len(sample))]
    lengths = [
        (len(item.ids) + 1 if config.has_encoder else 0, len(path))
        for item, path in zip(sample.sources, paths, strict=True)
    ]
    for indices in batches(lengths, max_tokens=BATCH_TOKENS, seed=0, epoch=0, shuffle=False):
        batch = padded_batch(config, [sample.sources[i].ids for i in indices], [paths[i] for i in indices])
        results = [_read(model, batch) for model in models]
        for row, index in enumerate(indices):
            n_src, n_tgt = lengths[index]
            sizes = {"encoder": (n_src, n_src), "decoder": (n_tgt, n_tgt), "cross": (n_tgt, n_src)}
            weights: Weights = {
                kind: np.stack([by_kind[kind][row][..., : sizes[kind][0], : sizes[kind][1]] for by_kind in results])
                for kind in config.kinds
            }
            src, read = config.inputs(sample.sources[index].ids, paths[index])
            trace = _trace(models[0], sample, index, target, weights)
            ids = np.array(src, dtype=np.int64)
            yield (
                index,
                Observed(
                    trace=trace,
                    src_ids=ids,
                    src_counts=counts[ids],
                    read_ids=np.array(read, dtype=np.int64),
                    alignment=sample.alignments[index],
                    links=sample.links[index],
                ),
                weights,
            )


def _path(config: ModelConfig, sample: Sample, index: int) -> Ids:
    """What the decoder's rows predict: the target with <eos>, after the rest of a decoder-only model's prompt."""
    given = () if config.has_encoder else config.prompt(sample.sources[index].ids)[1:]
    return (*given, *sample.targets[index], EOS)


@torch.inference_mode()
def _read(model: Transformer, batch: PaddedBatch) -> Weights:
    """Run one model on one batch: weights [batch, layer, head, query, key] by kind.

    Logits are left out: with a large vocabulary, they take as long as several layers.
    """
    recorder = AttentionRecorder()
    mask = padding_mask(batch.src)
    memory = model.encode(batch.src, src_mask=mask, tap=recorder)
    model.decode(batch.tgt, memory, src_mask=mask, tap=recorder)
    return {
        kind: torch.stack([recorder.calls[kind, i][0] for i in range(model.config.n_layers(kind))], dim=1).numpy()
        for kind in model.config.kinds
    }


def _trace(
    model: Transformer,
    sample: Sample,
    index: int,
    target: Tokenizer,
    weights: Weights,
) -> AttentionTrace:
    """The first model's weights with their labels; a decoder that is not causal saw the whole target at once.

    The probabilities are NaN, since no logits are computed.
    """
    source, path = sample.sources[index], _path(model.config, sample, index)
    src, read = model.config.inputs(source.ids, path)
    n_src, n_tgt = len(src), len(path)
    own = {kind: stacked[0].copy() for kind, stacked in weights.items()}
    mask = future_mask(n_tgt) if model.config.causal else np.full((n_tgt, n_tgt), VISIBLE, dtype=np.uint8)
    return AttentionTrace(
        **maps_of(own, n_src, n_tgt, mask),
        src_tokens=(*source.tokens, target.label(EOS))[:n_src],
        read_tokens=tuple(target.label(i) for i in read),
        predicted_tokens=tuple(target.label(i) for i in path),
        src_words=(*source.words, -1)[:n_src],
        tgt_words=target.words_of((*read, path[-1]))[:-1],
        probabilities=np.full(n_tgt, np.nan, dtype=np.float32),
        top_ids=np.zeros((n_tgt, 0), dtype=np.int64),
        top_probabilities=np.zeros((n_tgt, 0), dtype=np.float32),
        top_tokens=((),) * n_tgt,
    )
