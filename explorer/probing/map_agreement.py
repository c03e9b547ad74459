"""Do weights, norms and zeroed values name the same keys? Counted over a sample, layer by layer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import short_layer
from explorer.locale.text import percent, plural, rounded
from explorer.probing.quality import subsample
from explorer.probing.reporting import Report
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.cross_checks import LayerMaps, layer_maps
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import EOS, SOS, AttentionKind

SENTENCES = 50  # of the sample, at most
PAIRS = (("weights", "zeroed"), ("norms", "zeroed"), ("weights", "norms"))
TITLES = {"weights": "weights", "norms": "norms", "zeroed": "values set to zero"}

Layer = tuple[AttentionKind, int]


@dataclass(frozen=True, eq=False)
class MapAgreement:
    """In what share of rows two maps of a layer have their largest value at the same key, with intervals.

    `same` by kind and layer (from 0), then by pair of maps; `chance` by kind and layer: the expectation of a guess.
    Rows that see only one key, and rows that nothing changes, do not count.
    """

    same: dict[Layer, dict[tuple[str, str], Estimate]]
    chance: dict[Layer, float]
    sentences: int

    def rows(self) -> list[dict[str, Any]]:
        """A row for each layer of each kind."""
        lines = []
        for (kind, layer), shares in self.same.items():
            line: dict[str, Any] = {"kind": kind, "layer": short_layer(layer + 1)}
            for one, two in PAIRS:
                name = f"{TITLES[one]} = {TITLES[two]}"
                value, low, high = shares[one, two].at()
                line |= {name: rounded(value, 3), f"{name}: low": rounded(low, 3), f"{name}: high": rounded(high, 3)}
            lines.append(line | {"by chance": rounded(self.chance[kind, layer], 3)})
        return lines

    def caption(self) -> str:
        """Where weights name the key that is missed most, and where least."""
        pair = PAIRS[0]
        known = {at: shares[pair] for at, shares in self.same.items() if np.isfinite(shares[pair].value)}
        if not known:
            return "No row of the sample depends on a single key: there is nothing to compare."
        order = sorted(known, key=lambda at: float(known[at].value))
        closer = sum(bool(shares[PAIRS[1]].low > shares[pair].high) for shares in self.same.values())
        return (
            f"Over {plural(self.sentences, 'sentence')}: the key with the largest weight is the one whose value is "
            f"missed most in {_words(known[order[-1]])} of the rows of {_named(order[-1])}, but only in "
            f"{_words(known[order[0]])} of {_named(order[0])}. Norms name that key clearly more often than weights in "
            f"{closer} of {plural(len(known), 'layer')}. In brackets: 95 % intervals over sentences."
        )


def _named(at: Layer) -> str:
    return f"{at[0]} {short_layer(at[1] + 1)}"


def _words(item: Estimate) -> str:
    value, low, high = (percent(part) for part in item.at())
    return f"{value} ({low} to {high})"


def map_agreement(loaded: LoadedModel, sample: Sample, report: Report) -> MapAgreement:
    """Compare the three maps of every layer over the sample."""
    part = subsample(sample, SENTENCES)
    sums: dict[Layer, list[NDArray[np.float64]]] = defaultdict(list)
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"Setting values to zero: {nth} of {plural(len(part), 'sentence')}")
        for at, maps in layer_maps(loaded.transformer, (*source.ids, EOS), (SOS, *target)).items():
            sums[at].append(_counts(maps))
    by_layer = {at: np.stack(lines) for at, lines in sums.items()}  # [sentence, rows, chance and pairs]
    return MapAgreement(
        {
            at: {pair: bootstrap.of_ratio(lines[:, 2 + i], lines[:, 0]) for i, pair in enumerate(PAIRS)}
            for at, lines in by_layer.items()
        },
        {at: float(lines[:, 1].sum() / max(lines[:, 0].sum(), 1)) for at, lines in by_layer.items()},
        len(part),
    )


def _counts(maps: LayerMaps) -> NDArray[np.float64]:
    """Rows that count, the expected hits of a guess, and for each pair the rows in which both name one key."""
    seen = (maps.weights > 0).sum(axis=1)
    rows = (seen > 1) & (maps.zeroed.sum(axis=1) > 0)
    largest = {name: getattr(maps, name).argmax(axis=1) for name in TITLES}
    same = [float((largest[one] == largest[two])[rows].sum()) for one, two in PAIRS]
    return np.array([rows.sum(), (1 / np.maximum(seen, 1))[rows].sum(), *same])
