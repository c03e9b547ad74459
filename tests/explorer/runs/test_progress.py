"""What a watched run says of its progress."""

from __future__ import annotations

import pytest

from explorer.runs.metrics import Metrics
from explorer.runs.progress import progress, why_ended
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
    early = RunStatus("a", "finished", step=140, max_steps=150)
    reason = why_ended(early, Metrics(evals=evals), training)
    assert reason.startswith(said)
    assert bool(reason) == bool(said)
    assert progress(early, reason) == f"Finished at step 140 of at most 150. {reason}".strip()


@pytest.mark.parametrize(
    ("shares", "wanted", "said"),
    [
        ((1.0, 1.0, 0.9, 1.0, 1.0), 3, True),
        ((0.5, 0.9, 1.0), 3, True),
        ((0.5, 0.9, 0.9), 3, False),  # never without a mistake: nobody waits for an early end
        ((0.5, 1.0, 1.0, 1.0), 3, False),  # the last update, with nothing left to save
        ((1.0, 0.9), 0, False),
    ],
)
def test_a_run_that_might_have_ended_early_says_why_it_did_not(
    shares: tuple[float, ...], wanted: int, said: bool
) -> None:
    evals = tuple({"step": float(step), "exact_match": share} for step, share in enumerate(shares))
    whole = RunStatus("a", "finished", step=150, max_steps=150)
    sentence = progress(whole, why_ended(whole, Metrics(evals=evals), {"stop_when_right": wanted}))
    more = " It did not end early: no 3 evaluations in a row were without a mistake."
    assert sentence == f"Finished at step 150.{more if said else ''}"
