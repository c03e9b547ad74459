"""What a watched run says of its progress."""

from __future__ import annotations

import pytest

from explorer.runs.metrics import Metrics
from explorer.runs.progress import perfect_evaluations


@pytest.mark.parametrize(
    ("shares", "wanted", "said"),
    [((0.5, 1.0, 1.0, 1.0), 3, 3), ((1.0, 1.0, 0.9), 3, 0), ((1.0, 1.0), 3, 0), ((1.0, 1.0), 0, 0), ((1.0,), "x", 0)],
)
def test_only_perfect_evaluations_in_a_row_are_why_a_run_ended(
    shares: tuple[float, ...], wanted: object, said: int
) -> None:
    evals = tuple({"step": float(step), "exact_match": share} for step, share in enumerate(shares))
    assert perfect_evaluations(Metrics(evals=evals), {"stop_when_right": wanted}) == said
