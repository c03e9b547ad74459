"""Count over a sample how much of each prediction comes from the source."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.locale.messages import later, message, t, translated
from explorer.locale.text import percent
from explorer.probing.cross_checks import (
    ALL,
    Classes,
    Floats,
    KeptShares,
    MapAgreement,
    interval_columns,
    sample_part,
    signed,
    source_word,
)
from explorer.probing.edit_effect import with_interval
from explorer.probing.reporting import Report
from explorer.probing.sample import read_pairs
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Sample, observe
from model.analysis.source_share import source_shares
from model.checkpoint import LoadedModel

DIVIDED = 100  # sentences whose predictions are split into source and prefix, at most
THIRDS = (message("first third"), message("middle third"), message("last third"))
_WORDS_OF = {
    "punctuation": message("punctuation"),
    "function": message("function words"),
    "content": message("content words"),
}


@dataclass(frozen=True, eq=False)
class SourceCounts:
    """The mean share of the source, with intervals over sentences: over all predictions and over groups of them.

    `groups` by name: the number of predictions and their mean share. `on_end`: the correlation, over all predictions,
    of the share with the weight that cross-attention puts on <eos> (mean over heads), with its interval; None without
    cross-attention, where the source is the prompt.
    """

    mean: Estimate
    groups: dict[str, tuple[int, Estimate]]
    on_end: Estimate | None
    sentences: int
    words: int

    def rows(self) -> list[dict[str, Any]]:
        """One table row for all predictions, then one per group."""
        return [
            {
                t("predictions"): _group_title(name),
                t("number"): count,
                **interval_columns(item, t("share of the source"), only=True),
            }
            for name, (count, item) in {ALL: (self.words, self.mean), **self.groups}.items()
        ]

    def caption(self) -> str:
        """State the mean, both ends of the sentence, and the correlation with the weight on <eos>."""
        predictions = t("{n} prediction", "{n:,} predictions", n=self.words)
        sentences = t("{n} sentence", "{n:,} sentences", n=self.sentences)
        mean, source = with_interval(self.mean, percent), source_word(self.on_end)
        if THIRDS[-1] in self.groups:
            first, last = (with_interval(self.groups[name][1], percent) for name in (THIRDS[0], THIRDS[-1]))
            said = t(
                "Over {predictions} in {sentences}, {mean} of a prediction comes from {source} on average: {first} in "
                "the first third of a translation, {last} in the last.",
                predictions=predictions,
                sentences=sentences,
                mean=mean,
                source=source,
                first=first,
                last=last,
            )
        else:  # without a translation of three tokens, none has a last third
            said = t(
                "Over {predictions} in {sentences}, {mean} of a prediction comes from {source} on average.",
                predictions=predictions,
                sentences=sentences,
                mean=mean,
                source=source,
            )
        return " ".join(part for part in (said, self._end(), t("In brackets: 95 % intervals over sentences.")) if part)

    def _end(self) -> str:
        """State whether the weight on <eos> goes together with the share; empty without cross-attention."""
        if self.on_end is None:
            return ""
        correlation = with_interval(self.on_end, signed)
        if not self.on_end.differs_from_zero():
            end = t(
                "The weight on <eos> does not go together with this share: correlation {correlation}.",
                correlation=correlation,
            )
        elif self.on_end.value < 0:
            end = t(
                "The more weight on <eos>, the less comes from the source: correlation {correlation}.",
                correlation=correlation,
            )
        else:
            end = t(
                "The more weight on <eos>, the more comes from the source: correlation {correlation}.",
                correlation=correlation,
            )
        regulates = t("(Ferrando and Costa-jussà, 2021, say that such weight regulates the two.)")
        return f"{end} {regulates}"


def _group_title(name: str) -> str:
    if name in (ALL, *THIRDS, *_WORDS_OF.values()):
        return translated(name)
    return t("{tag} words", tag=name.removesuffix(" words"))


def source_counts(loaded: LoadedModel, sample: Sample, classes: Classes, report: Report) -> SourceCounts:
    """Compute the source's share in all predictions of words over the sample.

    Raises:
        SourceShareError: the model is a variant whose vectors cannot be split into parts.
    """
    part, part_classes = sample_part(sample, classes, DIVIDED)
    sums: dict[str, Floats] = defaultdict(lambda: np.zeros((len(part), 2)))
    moments = np.zeros((len(part), 6))
    has_cross = "cross" in loaded.model_config.kinds
    ends: dict[int, Floats] = {}  # [tgt] by sentence, a mean over all heads
    if has_cross:
        for index, _, weights in observe([loaded.transformer], part, loaded.source, loaded.target):
            ends[index] = weights["cross"][0, ..., -1].mean(axis=(0, 1), dtype=np.float64)
    for nth, (src, read) in enumerate(read_pairs(part, report, later("Dividing predictions"))):
        words = len(read) - 1
        shares = source_shares(loaded.transformer, src, read)[:words]
        x = ends[nth][:words] if has_cross else np.zeros(words)
        moments[nth] = len(x), x.sum(), shares.sum(), (x**2).sum(), (shares**2).sum(), (x * shares).sum()
        for i, share in enumerate(shares):
            names = {ALL, THIRDS[3 * i // len(shares)]}
            if part_classes and part_classes[nth]:
                names.add(_WORDS_OF.get(part_classes[nth][i]) or f"{part_classes[nth][i]} words")
            for name in names:
                sums[name][nth] += share, 1
    groups = {
        name: (int(values[:, 1].sum()), bootstrap.of_ratio(values[:, 0], values[:, 1])) for name, values in sums.items()
    }
    count, mean = groups.pop(ALL)
    order = [name for name in THIRDS if name in groups] + sorted(set(groups) - set(THIRDS))
    on_end = _correlation(moments) if has_cross else None
    return SourceCounts(mean, {name: groups[name] for name in order}, on_end, len(part), count)


def _correlation(moments: Floats) -> Estimate:
    """Compute Pearson's correlation over all predictions, with its interval, from the moments of each sentence."""
    drawn = np.concatenate([np.ones((1, len(moments))), bootstrap.resamples(len(moments))])
    n, x, y, xx, yy, xy = (drawn @ moments).T
    variances = (n * xx - x**2) * (n * yy - y**2)
    values = np.divide(
        n * xy - x * y, np.sqrt(np.maximum(variances, 0)), out=np.full(len(n), np.nan), where=variances > 1e-12
    )
    return Estimate(values[0], *bootstrap.interval(values[1:]))


Count = KeptShares | MapAgreement | SourceCounts  # the result of a cross-check over a sample
