"""What draws a head's weight to where it goes, over a sample: its scores taken apart and averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.score_parts import mean_explanation
from explorer.locale.text import plural
from explorer.probing.quality import subsample
from explorer.probing.reporting import Report
from model.analysis.recorded_batches import Sample
from model.analysis.score_terms import Part, grouped, head_terms
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.points import Head

SENTENCES = 50  # of the sample, at most


@dataclass(frozen=True, eq=False)
class MeanTerms:
    """The mean table of a head, [query part, key part], with all heads of one kind and layer together."""

    table: NDArray[np.float64]
    query_parts: tuple[Part, ...]
    key_parts: tuple[Part, ...]
    sentences: int

    def caption(self) -> str:
        """The largest terms in words."""
        return mean_explanation(self.table, self.query_parts, self.key_parts, self.sentences)


def mean_terms(loaded: LoadedModel, sample: Sample, head: Head, report: Report) -> MeanTerms:
    """The mean over sentences of :meth:`model.analysis.score_terms.HeadTerms.mean_table`.

    Raises:
        ScoreTermsError: the model is a variant of which scores cannot be taken apart.
    """
    part = subsample(sample, SENTENCES)
    tables = []
    for nth, (source, target) in enumerate(zip(part.sources, part.targets, strict=True)):
        report(nth / len(part), f"Taking scores apart: {nth} of {plural(len(part), 'sentence')}")
        terms = head_terms(loaded.transformer, (*source.ids, EOS), (SOS, *target), head)
        table, rows, columns = grouped(terms.mean_table(), terms.query_parts, terms.key_parts)
        if np.isfinite(table).all():
            tables.append(table)
    mean = np.mean(tables, axis=0) if tables else np.full((len(rows), len(columns)), np.nan)
    return MeanTerms(mean, tuple(rows), tuple(columns), len(tables))
