"""The control beside every finding about a set of heads: as many random heads, switched off in their place."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.locale.messages import t
from explorer.locale.text import fixed
from explorer.probing.reporting import Report, progress_check, unheard
from model.analysis.importance import batches_of, edited_loss, heads_of, without
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, ModelConfig
from model.points import Head

DRAWS = 19  # a set beats all of them by chance in 1 of 20 cases
_TRIES = 50  # for each draw; where there are fewer sets than draws, so many find all of them


@dataclass(frozen=True)
class RandomHeads:
    """The change of the loss, in nats per token, without random heads: one value for each set of them.

    They are drawn from other heads than the set that they stand beside (`others`), if there are enough, and of the same
    kinds (`alike`). Fewer than `DRAWS` are all sets that there are.
    """

    changes: tuple[float, ...]
    others: bool
    alike: bool

    def beside(self, change: float) -> str:
        """Compare the change without a set with that without as many random heads."""
        n, ends = len(self.changes), [fixed(end, 3, signed=True) for end in (min(self.changes), max(self.changes))]
        if change > max(self.changes):
            outcome = t("less every time") if n > 1 else t("less")
        elif change < min(self.changes):
            outcome = t("more every time") if n > 1 else t("more")
        else:
            outcome = t("so this set does not stand out")
        low, high = ends
        numbers = low if low == high else t("{low} to {high}", low=low, high=high)
        heads = self._heads()
        if n == 1:
            return t(
                "as many {heads}, of which there is one set: {numbers}, {outcome}",
                heads=heads,
                numbers=numbers,
                outcome=outcome,
            )
        if n < DRAWS:
            return t(
                "as many {heads}, all {n} sets of them: {numbers}, {outcome}",
                heads=heads,
                n=n,
                numbers=numbers,
                outcome=outcome,
            )
        return t(
            "as many random {heads}, drawn {n} times: {numbers}, {outcome}",
            heads=heads,
            n=n,
            numbers=numbers,
            outcome=outcome,
        )

    def _heads(self) -> str:
        if self.others:
            return t("other heads of the same kinds") if self.alike else t("other heads")
        return t("heads of the same kinds") if self.alike else t("heads")


def random_sets(chosen: Sequence[Head], config: ModelConfig, draws: int = DRAWS) -> list[list[Head]]:
    """Draw different sets of as many heads outside `chosen`, always the same ones, as many of each kind of attention.

    Where a kind has too few other heads, other kinds fill up; where there are too few in all, `chosen` does.
    """
    generator, every = random.Random(0), heads_of(config)
    sets: dict[frozenset[Head], list[Head]] = {}
    others = [head for head in every if head not in chosen]
    for _ in range(_TRIES * draws):
        if len(sets) == draws:
            break
        drawn: list[Head] = []
        for kind in ATTENTION_KINDS:
            alike = [head for head in others if head[0] == kind]
            drawn += generator.sample(alike, min(len(alike), sum(head[0] == kind for head in chosen)))
        missing = len(chosen) - len(drawn)
        rest = [head for head in others if head not in drawn]
        rest = rest if len(rest) >= missing else [head for head in every if head not in drawn]
        drawn += generator.sample(rest, missing)
        sets.setdefault(frozenset(drawn), drawn)
    return list(sets.values())


def measure_random(
    loaded: LoadedModel, sample: Sample, chosen: Sequence[Head], report: Report = unheard
) -> RandomHeads:
    """Measure the loss without random heads, beside `chosen`, on a whole sample."""
    model, pairs = loaded.transformer, sample.pairs
    sets = random_sets(chosen, model.config)
    check = progress_check(report, (len(sets) + 1) * len(batches_of(pairs)), "")
    whole = edited_loss(model, pairs, None, check=check).loss
    changes = tuple(edited_loss(model, pairs, without(heads), check=check).loss - whole for heads in sets)
    others = not any(set(heads) & set(chosen) for heads in sets)
    alike = all(Counter(head[0] for head in heads) == Counter(head[0] for head in chosen) for heads in sets)
    return RandomHeads(changes, others, alike)
