"""What beam search considered: every continuation that it scored, including those that it pruned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from model.decoding.search import BeamStep

Fate = Literal["kept", "ended", "pruned"]
_PRUNED, _ENDED = -1, -2  # as in model.decoding.search, whose import would load torch


@dataclass(frozen=True)
class Branch:
    """A hypothesis that was considered, and whether search continued from it.

    `path` holds target ids, this token last; `log_prob` of this token and `total` of the path are in nats; `score` is
    the total divided by the length penalty; `fate` says whether it was kept, ended with <eos>, or was pruned.
    """

    path: tuple[int, ...]
    log_prob: float
    total: float
    score: float
    fate: Fate


def branches_of(steps: Sequence[BeamStep], sentence: int = 0) -> tuple[Branch, ...]:
    """All branches of one sentence of a batch, in the order of the search."""
    paths: dict[int, tuple[int, ...]] = {0: ()}
    branches = []
    for step in steps:
        rows = (step.sentences == sentence).nonzero(as_tuple=True)[0].tolist()
        if not rows:
            break
        row, after = rows[0], {}
        for token, parent, log_prob, total, score, slot in zip(
            *(column[row].tolist() for column in (step.tokens, step.parents, step.log_probs, step.totals)),
            step.scores[row].tolist(),
            step.slots[row].tolist(),
            strict=True,
        ):
            if not math.isfinite(total):
                continue  # a padding candidate: fewer tokens than candidates could be chosen
            path = (*paths[parent], token)
            fate: Fate = "pruned" if slot == _PRUNED else "ended" if slot == _ENDED else "kept"
            branches.append(Branch(path, log_prob, total, score, fate))
            if fate == "kept":
                after[slot] = path
        paths = after
    return tuple(branches)
