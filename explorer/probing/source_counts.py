"""How much of a prediction comes from the source, over a sample: by place in the sentence, by class of word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.locale.text import fixed, percent, plural, rounded
from explorer.probing.quality import subsample
from explorer.probing.reporting import Report
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Sample, observe
from model.analysis.source_share import source_shares
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.scoring import evenly_spaced

SENTENCES = 100  # of the sample, at most
THIRDS = ("first third", "middle third", "last third")


@dataclass(frozen=True, eq=False)
class SourceCounts:
    """Mean share of the source with intervals over sentences: of all predictions, and of groups of them.

    `groups` by name: the number of predictions and their mean share. `on_end`: the correlation, over all predictions,
    of the share with the weight that cross-attention puts on <eos> (mean over heads), with its interval.
    """

    mean: Estimate
    groups: dict[str, tuple[int, Estimate]]
    on_end: Estimate
    sentences: int
    words: int

    def rows(self) -> list[dict[str, Any]]:
        """A row for all predictions, then one for each group."""
        lines = []
        for name, (count, item) in {"all": (self.words, self.mean), **self.groups}.items():
            value, low, high = item.at()
            lines.append(
                {
                    "predictions": name,
                    "number": count,
                    "share of the source": rounded(value, 3),
                    "low": rounded(low, 3),
                    "high": rounded(high, 3),
                }
            )
        return lines

    def caption(self) -> str:
        """The mean, both ends of the sentence, and what the weight on <eos> has to do with it."""
        first, last = (self.groups[name][1] for name in (THIRDS[0], THIRDS[-1]))
        value, low, high = (fixed(part, 2, signed=True) for part in self.on_end.at())
        end = (
            f"The more weight on <eos>, the {'less' if self.on_end.value < 0 else 'more'} comes from the source"
            if self.on_end.differs_from_zero()
            else "The weight on <eos> does not go together with this share"
        )
        return (
            f"Over {plural(self.words, 'prediction')} in {plural(self.sentences, 'sentence')}, {_words(self.mean)} of "
            f"each comes from the source: {_words(first)} in the first third of a translation, {_words(last)} in "
            f"the last. {end}: correlation {value} ({low} to {high}). (Ferrando and Costa-jussà, 2021, say that such "
            f"weight regulates the two.) In brackets: 95 % intervals over sentences."
        )


def _words(item: Estimate) -> str:
    value, low, high = (percent(part) for part in item.at())
    return f"{value} ({low} to {high})"


def source_counts(
    loaded: LoadedModel, sample: Sample, classes: Sequence[Sequence[str]] | None, report: Report
) -> SourceCounts:
    """The shares of all predictions of words; classes [sentence][target token], where they are known.

    Raises:
        SourceShareError: the model is a variant that cannot be taken apart.
    """
    part = subsample(sample, SENTENCES)
    known = None if classes is None else [classes[i] for i in evenly_spaced(len(sample), SENTENCES)]
    sums: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros((len(part), 2)))
    moments = np.zeros((len(part), 6))
    ends = _weight_on_end(loaded, part)
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"Dividing predictions: {nth} of {plural(len(part), 'sentence')}")
        shares = source_shares(loaded.transformer, (*source.ids, EOS), (SOS, *target))[: len(target)]
        x = ends[nth][: len(target)]
        moments[nth] = len(x), x.sum(), shares.sum(), (x**2).sum(), (shares**2).sum(), (x * shares).sum()
        for t, share in enumerate(shares):
            names = {"all", THIRDS[3 * t // len(shares)]}
            if known is not None and known[nth]:
                names.add(known[nth][t] if known[nth][t] == "punctuation" else f"{known[nth][t]} words")
            for name in names:
                sums[name][nth] += share, 1
    groups = {
        name: (int(values[:, 1].sum()), bootstrap.of_ratio(values[:, 0], values[:, 1])) for name, values in sums.items()
    }
    words, mean = groups.pop("all")
    order = [name for name in THIRDS if name in groups] + sorted(set(groups) - set(THIRDS))
    return SourceCounts(mean, {name: groups[name] for name in order}, _correlation(moments), len(part), words)


def _weight_on_end(loaded: LoadedModel, sample: Sample) -> list[NDArray[np.float64]]:
    """Of each sentence the weight on <eos> by row, a mean over all cross-attention heads: [tgt] each."""
    found = {
        index: weights["cross"][0, ..., -1].mean(axis=(0, 1), dtype=np.float64)
        for index, _, weights in observe([loaded.transformer], sample, loaded.source, loaded.target)
    }
    return [found[i] for i in range(len(sample))]


def _correlation(moments: NDArray[np.float64]) -> Estimate:
    """Pearson's correlation of two values over all predictions, from their sums by sentence, with its interval."""
    drawn = np.concatenate([np.ones((1, len(moments))), bootstrap.resamples(len(moments))])
    n, x, y, xx, yy, xy = (drawn @ moments).T
    spread = (n * xx - x**2) * (n * yy - y**2)
    values = np.divide(
        n * xy - x * y, np.sqrt(np.maximum(spread, 0)), out=np.full(len(n), np.nan), where=spread > 1e-12
    )
    return Estimate(values[0], *bootstrap.interval(values[1:]))
