"""What beam search considered: every continuation it scored, the ones that it dropped included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from model.decoding.search import BeamStep

Fate = Literal["kept", "ended", "pruned"]
_PRUNED, _ENDED = -1, -2  # as in model.decoding.search, which would bring torch along


@dataclass(frozen=True)
class Branch:
    """A hypothesis that was considered: its path so far, and what became of it.

    `path` are target ids, this token last; `log_prob` of this token and `total` of the path in nats; `score` is the
    total over the length penalty; `fate` says whether search went on from it, it ended with <eos>, or was dropped.
    """

    path: tuple[int, ...]
    log_prob: float
    total: float
    score: float
    fate: Fate


def branches_of(steps: Sequence[BeamStep], sentence: int = 0) -> tuple[Branch, ...]:
    """All branches of one sentence of a batch, in the order in which they were considered."""
    paths: dict[int, tuple[int, ...]] = {0: ()}
    found = []
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
                continue  # a candidate in name only: fewer tokens than candidates could be chosen
            path = (*paths[parent], token)
            fate: Fate = "pruned" if slot == _PRUNED else "ended" if slot == _ENDED else "kept"
            found.append(Branch(path, log_prob, total, score, fate))
            if fate == "kept":
                after[slot] = path
        paths = after
    return tuple(found)
