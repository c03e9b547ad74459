"""The contents of a head's card: example sentences, and the cells of each that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.locale.messages import message, t
from explorer.locale.text import fixed, percent
from explorer.probing.measurement import WITHOUT_SINKS, KindScores, places_of
from explorer.probing.pattern_cells import partners, sink_keys
from explorer.probing.roles import Role
from model.analysis.recorded_batches import Observed
from model.config import AttentionKind
from model.points import Head

EXAMPLES = (message("Best"), message("Median"), message("Worst"))
MIN_ROWS = 7  # of a sentence; the rows that see a sink as the right key, or one key only, do not count, so 5 or more do


@dataclass(frozen=True)
class Example:
    """A sentence of the sample: its index, the head's score in it, and the score of uniform attention (`chance`).

    Sentences are sorted by `gain`.
    """

    index: int
    score: float
    chance: float

    @property
    def gain(self) -> float:
        """The score above that of uniform attention, as a share of what is possible: 1 is a perfect score."""
        return (self.score - self.chance) / (1 - self.chance)

    def sort_key(self, right: float | None = None) -> str:
        """Write the score and that of uniform attention, with the gain by which sentences are sorted.

        Of a lexical score, write the weight on `right` words and what is taken off it instead.
        """
        gain, score, chance = percent(self.gain), fixed(self.score, 2), fixed(self.chance, 2)
        if right is not None:
            taken_off = round(right, 2) - round(self.score, 2)  # what is shown adds up
            return t(
                "{score} = {right} on right words − {shuffled} on shuffled partners",
                score=score,
                right=fixed(right, 2),
                shuffled=fixed(taken_off, 2),
            )
        return t("{score} (uniform {uniform}; {gain} of the way to 1)", score=score, uniform=chance, gain=gain)


def example_statistic(role: Role, measured: KindScores) -> str:
    """The statistic by which examples are chosen: that of the head's role, else the one by which it was judged."""
    if not role.clear:
        return role.judged[0] if role.judged else "confidence"
    name = role.statistics[-1]
    return name + WITHOUT_SINKS if name + WITHOUT_SINKS in measured.scores else name


def examples(measured: KindScores, statistic: str, layer: int, head: int, rows: Sequence[int]) -> dict[str, Example]:
    """Choose the best, the median and the worst sentence of the sample for a head, by the names in `EXAMPLES`.

    Any head scores high in a short sentence, where little more is possible: sentences are sorted by the gain as a share
    of what is. Those in which no head can score lower than 1 are left out, and, if any others are left, those of few
    rows, whose mean is chance (`rows`: by sentence). Ties keep the order of the sample. Empty if none is left.
    """
    single = measured.single[statistic]
    values = single.own[:, layer, head]
    gains = (values - single.uniform) / np.where(single.uniform < 1 - 1e-6, 1 - single.uniform, np.nan)
    defined = np.flatnonzero(np.isfinite(gains))
    if not len(defined):
        return {}
    long = defined[np.asarray(rows)[defined] >= MIN_ROWS]
    defined = long if len(long) else defined
    order = defined[np.argsort(gains[defined], kind="stable")]
    chosen = (order[-1], order[round((len(order) - 1) / 2)], order[0])
    return {
        name: Example(int(i), float(values[i]), float(single.uniform[i]))
        for name, i in zip(EXAMPLES, chosen, strict=True)
    }


def framed_weight(observed: Observed, place: Head, cells: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """The weight of a head on these cells together, and that of their rows on all keys but the sinks."""
    kind, layer, head = place
    weights = observed.trace.weights(kind)[layer, head].astype(np.float64)
    rows, columns = np.array(cells).T
    return float(weights[rows, columns].sum()), float(weights[np.unique(rows)][:, ~sink_keys(observed, kind)].sum())


def counted_cells(observed: Observed, kind: AttentionKind, statistic: str) -> tuple[tuple[int, int], ...]:
    """The cells (row, column) of a sentence whose weight a statistic counts; none if it is about no single cells."""
    name, places = statistic.removesuffix(WITHOUT_SINKS), places_of(observed, kind)
    if name in places.lexical:
        cells = partners(observed, read=name.endswith("_input"))
    elif name in places.cells:
        cells = places.cells[name]
    else:
        return ()
    if statistic.endswith(WITHOUT_SINKS):
        cells = cells & ~places.sinks
    return tuple((int(row), int(column)) for row, column in np.argwhere(cells))
