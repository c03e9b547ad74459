"""The contents of a head's card: example sentences and similar heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.decoding.names import index_name
from explorer.locale.messages import message, t
from explorer.locale.text import fixed, percent
from explorer.probing.measurement import WITHOUT_SINKS, KindScores
from explorer.probing.roles import Role, role_of

EXAMPLES = (message("Best"), message("Median"), message("Worst"))
MIN_ROWS = 7  # of a sentence; the rows that see a sink as the right key, or one key only, do not count, so 5 or more do
_N_SIMILAR = 3  # similar heads that are named


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

    def sort_key(self) -> str:
        """Write the gain, by which sentences are sorted, with the two scores behind it."""
        gain, score, chance = percent(self.gain), fixed(self.score, 2), fixed(self.chance, 2)
        return t("{gain} ({score}, uniform {uniform})", gain=gain, score=score, uniform=chance)


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


def similar_heads(measured: KindScores, layer: int, head: int) -> tuple[str, ...]:
    """The heads most similar to a head (indices from 0), with divergence and role; empty if there are none."""
    own = layer * measured.n_heads + head
    divergences = measured.similarity[own]
    others = [int(i) for i in np.argsort(divergences, kind="stable") if i != own and np.isfinite(divergences[i])]
    lines = []
    for other in others[:_N_SIMILAR]:
        place = divmod(other, measured.n_heads)
        lines.append(
            t(
                "{head}: {bits:.2f} bits apart, {role}",
                head=index_name(*place),
                bits=divergences[other],
                role=role_of(measured, *place).title,
            )
        )
    return tuple(lines)
