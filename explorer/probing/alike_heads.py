"""Switch off heads that look alike in pairs: where either does the work of both, one alone shows nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from explorer.decoding.names import index_name
from explorer.locale.messages import later, t, translated
from explorer.locale.text import fixed, listed, rounded
from explorer.probing.edit_effect import interval
from explorer.probing.importance import SENTENCES
from explorer.probing.measurement import Probe
from explorer.probing.random_heads import DRAWS
from explorer.probing.reporting import Report, progress_check
from explorer.probing.sample import subsample
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.importance import batches_of, sums_without
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import AttentionKind
from model.points import Head

CLOSEST = 3  # pairs of each kind
Pair = tuple[Head, Head]


@dataclass(frozen=True)
class AlikePair:
    """Two heads of one kind that look alike, `bits` apart, and the change of the loss without them, in nats per token.

    `alone`: without each of them, `both`: without both, `more`: the second less the sum of the first. `random`: the
    same difference for random pairs that look less alike, of the same kind as far as it has any; fewer than `DRAWS` are
    all that there are.
    """

    heads: Pair
    bits: float
    alone: tuple[float, float]
    both: Estimate
    more: Estimate
    random: tuple[float, ...]

    @property
    def name(self) -> str:
        """The names of both heads."""
        (kind, *one), (_, *other) = self.heads
        return t("{kind} {head} + {other}", kind=translated(kind), head=index_name(*one), other=index_name(*other))

    @property
    def stands_out(self) -> bool:
        """Whether together they cost more than one by one, and more than each random pair does."""
        value, low, _ = self.more.at()
        return low > 0 and bool(self.random) and value > max(self.random)


@dataclass(frozen=True)
class AlikeHeads:
    """The pairs of heads that look most alike, those first that cost most beyond the sum of each, and the sentences."""

    pairs: tuple[AlikePair, ...]
    sentences: int

    def rows(self) -> list[dict[str, Any]]:
        """One table row per pair."""
        return [
            {
                t("heads"): pair.name,
                t("bits apart"): rounded(pair.bits, 3),
                t("without one"): rounded(pair.alone[0], 3),
                t("without the other"): rounded(pair.alone[1], 3),
                t("without both"): rounded(float(pair.both.value), 3),
                t("more than the sum"): interval(pair.more, 3),
                t("random pairs, at most"): rounded(max(pair.random, default=np.nan), 3),
                t("random pairs"): len(pair.random),
            }
            for pair in self.pairs
        ]

    def summary(self) -> str:
        """Name the pairs of which either head can stand in for the other, and how many would be named by chance."""
        out = [pair.name for pair in self.pairs if pair.stands_out]
        pairs = t("{n} pair", "{n:,} pairs", n=len(self.pairs))
        sentences = t("{n} sentence", "{n:,} sentences", n=self.sentences)
        if not out:
            return t(
                "Of the {pairs} that look most alike, none costs clearly more together than one by one, and more than "
                "random pairs do: nothing shows that one head stands in for the other. Over {sentences}.",
                pairs=pairs,
                sentences=sentences,
            )
        return t(
            "One head stands in for the other in {names}: together they cost more than the sum of each alone, and more "
            "so than random pairs. Of {pairs}, about {chance} would be named if looking alike meant nothing. Over "
            "{sentences}.",
            names=listed(out),
            pairs=pairs,
            chance=fixed(sum(1 / (1 + len(pair.random)) for pair in self.pairs), 1),
            sentences=sentences,
        )


def measure_alike(loaded: LoadedModel, sample: Sample, probe: Probe, report: Report) -> AlikeHeads:
    """Measure the loss without the closest pairs, and random ones, on at most `SENTENCES` sentences of a sample."""
    part, generator = subsample(sample, SENTENCES), random.Random(0)
    closest: dict[Pair, float] = {}
    others: list[Pair] = []
    for kind, item in probe.kinds.items():
        heads: list[Head] = [(kind, layer, head) for layer, head in np.ndindex(item.n_layers, item.n_heads)]
        apart = {pair: float(item.similarity[tuple(map(heads.index, pair))]) for pair in combinations(heads, 2)}
        in_order = sorted((pair for pair in apart if np.isfinite(apart[pair])), key=apart.__getitem__)
        closest |= {pair: apart[pair] for pair in in_order[:CLOSEST]}
        others += in_order[CLOSEST:]
    drawn: dict[AttentionKind, list[Pair]] = {}
    for kind in probe.kinds:
        in_turn = sorted(generator.sample(others, len(others)), key=lambda pair: pair[0][0] != kind)
        drawn[kind] = in_turn[:DRAWS]
    pairs = list(dict.fromkeys([*closest, *(pair for each in drawn.values() for pair in each)]))
    singles = sorted({head for pair in pairs for head in pair})
    sets = [*((head,) for head in singles), *pairs]
    label = later("Switching off {n} pair of heads", "Switching off {n:,} pairs of heads", n=len(pairs))
    check = progress_check(report, (1 + len(sets)) * len(batches_of(part.pairs)), label)
    sums = sums_without(loaded.transformer, part.pairs, sets, check=check)
    tokens = sums[0, 2]
    changes = dict(zip(sets, sums[1:, 0] - sums[0, 0], strict=True))  # [sentence] each

    def more(pair: Pair) -> Estimate:
        return bootstrap.of_ratio(changes[pair] - changes[pair[:1]] - changes[pair[1:]], tokens)

    measured = [
        AlikePair(
            pair,
            bits,
            (float(changes[pair[:1]].sum() / tokens.sum()), float(changes[pair[1:]].sum() / tokens.sum())),
            bootstrap.of_ratio(changes[pair], tokens),
            more(pair),
            tuple(float(more(each).value) for each in drawn[pair[0][0]]),
        )
        for pair, bits in closest.items()
    ]
    return AlikeHeads(tuple(sorted(measured, key=lambda pair: -float(pair.more.value))), len(part))
