"""The contents of a head's card: the sentences that show it best, its strongest rows, similar heads, and its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.names import index_name
from explorer.decoding.score_parts import mean_explanation
from explorer.locale.text import fixed, quoted
from explorer.probing.measurement import WITHOUT_SINKS, KindScores
from explorer.probing.pattern_shares import coverage
from explorer.probing.reporting import Report
from explorer.probing.roles import Role, role_of
from explorer.probing.sample import read_pairs, subsample
from model.analysis.recorded_batches import Sample
from model.analysis.score_terms import Part, grouped, head_terms
from model.checkpoint import LoadedModel
from model.points import Head

DECILES = 10
SHOWN = {"Best": DECILES, "Median": DECILES // 2, "Worst": 0}  # sentences on a card, by their decile
_ALIKE = 3  # heads that are named as similar


@dataclass(frozen=True)
class Example:
    """A sentence of the sample: its index, and how far the head's score in it is above that of uniform attention.

    `score` is the head's own score there and `chance` that of uniform attention; sentences are sorted by `gain`.
    """

    index: int
    score: float
    chance: float

    @property
    def gain(self) -> float:
        """The score above that of uniform attention."""
        return self.score - self.chance

    def sort_key(self) -> str:
        """The number that sentences are sorted by, with its parts."""
        return f"{fixed(self.gain, 2, signed=True)} = {fixed(self.score, 2)} − {fixed(self.chance, 2)}"


def example_statistic(role: Role, measured: KindScores) -> str:
    """The statistic by which examples are chosen: the one behind the head's role; without a role, its confidence."""
    if not role.clear:
        return "confidence"
    name = role.statistics[-1]
    return name + WITHOUT_SINKS if name + WITHOUT_SINKS in measured.scores else name


def deciles(measured: KindScores, statistic: str, layer: int, head: int) -> tuple[Example, ...]:
    """Eleven sentences of the sample, from the worst (index 0) to the best (index 10), at every tenth of the order.

    Any head scores high in a short sentence, so sentences are sorted by the score above that of uniform attention.
    Ties keep the order of the sample. Empty where the statistic applies to no sentence.
    """
    single = measured.single[statistic]
    values = single.own[:, layer, head]
    gains = values - single.uniform
    known = np.flatnonzero(np.isfinite(gains))
    if not len(known):
        return ()
    order = known[np.argsort(gains[known], kind="stable")]
    at = [round(d * (len(order) - 1) / DECILES) for d in range(DECILES + 1)]
    return tuple(Example(int(order[i]), float(values[order[i]]), float(single.uniform[order[i]])) for i in at)


def coverage_caption(weights: NDArray[np.floating], columns: Sequence[str]) -> str:
    """How much of this head each source token receives in the whole translation; weights [query, key]."""
    total = coverage(weights)
    most, least = int(total[:-1].argmax()), int(total[:-1].argmin())
    return (
        f"Coverage (the weight that a source token receives over all rows; an even share would be "
        f"{total.mean():.2f}): most {most + 1} {quoted(columns[most])} ({total[most]:.2f}), least {least + 1} "
        f"{quoted(columns[least])} ({total[least]:.2f}), {quoted(columns[-1])} {total[-1]:.2f}."
    )


def similar_heads(measured: KindScores, layer: int, head: int) -> tuple[str, ...]:
    """The heads most similar to one (indices from 0), with divergence and role; empty if there are none."""
    own = layer * measured.n_heads + head
    divergences = measured.similarity[own]
    others = [int(i) for i in np.argsort(divergences, kind="stable") if i != own and np.isfinite(divergences[i])]
    lines = []
    for other in others[:_ALIKE]:
        place = divmod(other, measured.n_heads)
        lines.append(f"{index_name(*place)}: {divergences[other]:.2f} bits apart, {role_of(measured, *place).name}")
    return tuple(lines)


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
    for src, read in read_pairs(part, report, "Taking scores apart"):
        terms = head_terms(loaded.transformer, src, read, head)
        table, rows, columns = grouped(terms.mean_table(), terms.query_parts, terms.key_parts)
        if np.isfinite(table).all():
            tables.append(table)
    mean = np.mean(tables, axis=0) if tables else np.full((len(rows), len(columns)), np.nan)
    return MeanTerms(mean, tuple(rows), tuple(columns), len(tables))
