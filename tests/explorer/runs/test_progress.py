"""What a watched run says of its progress."""

from __future__ import annotations

import pytest

from explorer.runs.metrics import Metrics
from explorer.runs.progress import early_end, progress
from explorer.runs.status import RunStatus

PERFECT, PATIENCE = (
    "The last 3 evaluations were as good as can be.",
    "The last 2 evaluations were no better than the best",
)


@pytest.mark.parametrize(
    ("shares", "training", "said"),
    [
        ((0.5, 1.0, 1.0, 1.0), {"stop_when_right": 3}, PERFECT),
        ((0.9, 0.9, 0.9), {"stop_when_right": 3, "reachable": 0.9}, PERFECT),
        ((0.9, 0.9, 0.9), {"stop_when_right": 3}, ""),
        ((1.0, 1.0), {"stop_when_right": 3}, ""),
        ((1.0, 1.0), {"stop_when_right": 0}, ""),
        ((1.0,), {"stop_when_right": "x"}, ""),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "exact_match"}, PATIENCE),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 3, "select_by": "exact_match"}, ""),
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "loss"}, ""),  # the loss fell to the end
        ((0.2, 0.5, 0.4, 0.3), {"patience": 2, "select_by": "bleu"}, ""),  # ties go to the lower loss
        ((), {"patience": 2, "select_by": "loss"}, ""),
    ],
)
def test_why_a_run_ended_before_its_last_update_is_told_by_its_curves(
    shares: tuple[float, ...], training: dict[str, object], said: str
) -> None:
    more = {"reachable": float(str(training["reachable"]))} if "reachable" in training else {}
    evals = tuple(
        {"step": float(step), "exact_match": share, "loss": 1 / (step + 1), **more} for step, share in enumerate(shares)
    )
    reason = early_end(Metrics(evals=evals), training)
    assert reason.startswith(said)
    assert bool(reason) == bool(said)
    early, whole = (RunStatus("a", "finished", step=step, max_steps=150) for step in (140, 150))
    assert progress(early, reason) == f"Finished at step 140 of at most 150. {reason}".strip()
    assert progress(whole, reason) == "Finished at step 150."
