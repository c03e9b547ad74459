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
    WORDS_OF,
    Classes,
    Floats,
    KeptShares,
    MapAgreement,
    interval_columns,
    sample_part,
    source_word,
)
from explorer.probing.edit_effect import with_interval
from explorer.probing.reporting import Report
from explorer.probing.sample import read_pairs
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.recorded_batches import Sample
from model.analysis.source_share import source_shares
from model.checkpoint import LoadedModel

DIVIDED = 100  # sentences whose predictions are split into source and prefix, at most
THIRDS = (message("first third"), message("middle third"), message("last third"))


@dataclass(frozen=True, eq=False)
class SourceCounts:
    """The mean share of the source, with intervals over sentences: over all predictions and over groups of them.

    `groups` by name: the number of predictions and their mean share. `source`: what the share is of, which is
    the prompt in a decoder alone.
    """

    mean: Estimate
    groups: dict[str, tuple[int, Estimate]]
    source: str
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
        """State the mean, and both ends of the sentence."""
        predictions = t("{n} prediction", "{n:,} predictions", n=self.words)
        sentences = t("{n} sentence", "{n:,} sentences", n=self.sentences)
        mean, source = with_interval(self.mean, percent), self.source
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
        return f"{said} {t('In brackets: 95 % intervals over sentences.')}"


def _group_title(name: str) -> str:
    if name in (ALL, *THIRDS, *WORDS_OF.values()):
        return translated(name)
    return t("{tag} words", tag=name.removesuffix(" words"))


def source_counts(loaded: LoadedModel, sample: Sample, classes: Classes, report: Report) -> SourceCounts:
    """Compute the source's share in all predictions of words over the sample.

    Raises:
        SourceShareError: the model is a variant whose vectors cannot be split into parts.
    """
    part, part_classes = sample_part(sample, classes, DIVIDED)
    sums: dict[str, Floats] = defaultdict(lambda: np.zeros((len(part), 2)))
    for nth, (src, read) in enumerate(read_pairs(part, report, later("Dividing predictions"))):
        shares = source_shares(loaded.transformer, src, read)[: len(read) - 1]
        for i, share in enumerate(shares):
            names = {ALL, THIRDS[3 * i // len(shares)]}
            if part_classes and part_classes[nth]:
                names.add(WORDS_OF.get(part_classes[nth][i]) or f"{part_classes[nth][i]} words")
            for name in names:
                sums[name][nth] += share, 1
    groups = {
        name: (int(values[:, 1].sum()), bootstrap.of_ratio(values[:, 0], values[:, 1])) for name, values in sums.items()
    }
    count, mean = groups.pop(ALL)
    order = [name for name in THIRDS if name in groups] + sorted(set(groups) - set(THIRDS))
    source = source_word(has_encoder=loaded.model_config.has_encoder)
    return SourceCounts(mean, {name: groups[name] for name in order}, source, len(part), count)


Count = KeptShares | MapAgreement | SourceCounts  # the result of a cross-check over a sample
