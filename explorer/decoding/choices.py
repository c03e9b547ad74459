"""The choices along a path: which tokens are not the model's likeliest, and which step is worth opening at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.trace import AttentionTrace


def chosen_rows(trace: AttentionTrace, path: Sequence[int]) -> tuple[int, ...]:
    """Rows, from 0, whose token on `path` [tgt] (ids) is not the one that the model finds likeliest there."""
    likeliest = np.asarray(trace.top_ids)[:, 0]
    return tuple(int(row) for row in np.flatnonzero(likeliest != np.asarray(path)))


def step_worth_seeing(trace: AttentionTrace, word: str = "") -> int:
    """The step, from 1, at which to open a translation.

    It is the one that predicts `word`, if there is one; else the closest race: the smallest difference between the
    probabilities of the likeliest token and the next, ties to the earlier step. The end of the sentence counts only
    where nothing else is predicted.
    """
    if word in trace.predicted_tokens:
        return trace.predicted_tokens.index(word) + 1
    best = np.sort(np.asarray(trace.top_probabilities, dtype=np.float64), axis=1)[:, ::-1]
    if best.shape[1] < 2:
        return 1
    leads = best[:, 0] - best[:, 1]
    return int(np.argmin(leads[: max(1, len(leads) - 1)])) + 1
