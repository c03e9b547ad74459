"""Sentences about the importance of heads, computed from given numbers."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.probing.importance import Importance, PruningCurve
from explorer.probing.reporting import progress_check
from model.analysis.bootstrap import Estimate
from model.analysis.importance import Ablation
from model.config import AttentionKind

LOSS: dict[AttentionKind, list[list[float]]] = {"encoder": [[0.5, -0.0004]], "decoder": [[0.1]], "cross": [[2.0]]}


def around(values: np.ndarray, width: float) -> Estimate:
    return Estimate(values, values - width, values + width)


@pytest.fixture
def importance() -> Importance:
    loss = {kind: np.array(values) for kind, values in LOSS.items()}
    changes = {kind: around(values, 0.05) for kind, values in loss.items()}
    accuracy = {kind: around(-values / 10, 0.01) for kind, values in loss.items()}
    gradient = {kind: np.abs(values) for kind, values in loss.items()}
    return Importance(Ablation(1.0, 0.9, changes, accuracy), gradient, 1)


def test_rows_begin_with_the_most_important_head(importance: Importance) -> None:
    first, second, third, last = importance.rows()
    assert [(row["kind"], row["head"]) for row in (first, second, third, last)] == [
        ("cross", "L1 H1"),
        ("encoder", "L1 H1"),
        ("decoder", "L1 H1"),
        ("encoder", "L1 H2"),
    ]
    assert (first["loss change (nats)"], first["gradient score in its layer"]) == (2.0, 1.0)
    assert importance.unclear() == [("encoder", 0, 1)]
    assert (str(last["loss change (nats)"]), last["distinguishable from zero"]) == ("0.0", "no"), "not -0.0"


def test_sentences_carry_rounded_numbers_with_their_intervals(importance: Importance) -> None:
    summary, one = importance.summary(), importance.sentence_about(("encoder", 0, 0))
    for said, numbers in (
        (summary, "most without cross L1 H1, by +2.000 (+1.950 to +2.050)"),
        (summary, "least without encoder L1 H2, by 0.000 (-0.050 to +0.050, not distinguishable from zero)"),
        (summary, "Of 4 heads, 1 cannot be distinguished from zero, and without 0 the model is better."),
        (one, "from 1.000 to 1.500 nats per token, by +0.500 (+0.450 to +0.550)"),
        (one, "by -5.0 (-6.0 to -4.0) percentage points: rank 2 of 4."),
    ):
        assert numbers in said


def test_the_curve_is_in_percent_of_the_whole_model() -> None:
    losses, nothing = (0.0, np.log(2), np.log(4)), (None, None, None)
    changes = around(np.log([1.0, 2.0, 4.0]), np.log(1.25))
    curve = PruningCurve((0, 1, 2), losses, (0.8, 0.76, 0.2), nothing, changes)
    quality = curve.remaining_quality()
    assert set(quality) == {"probability per token", "exact match"}
    assert quality["probability per token"] == pytest.approx([100, 50, 25])
    assert quality["exact match"] == pytest.approx([100, 95, 25])
    assert np.allclose(curve.interval(), ([80, 40, 20], [125, 62.5, 31.25]))
    assert curve.summary().startswith("Exact match falls below 90 % of the whole model's with 2 of 2 heads")
    whole = PruningCurve((0, 1), (0.5, 0.5), (None, None), (None, None), around(np.zeros(2), 0.1))
    assert whole.summary().startswith("Probability per token stays above 90 % however many of 1 head are switched off.")


def test_each_check_reports_one_part_more() -> None:
    reports: list[tuple[float, str]] = []
    check = progress_check(lambda done, label: reports.append((done, label)), 4, "Work")
    for _ in range(3):
        check()
    assert reports == [(0.0, "Work"), (0.25, "Work"), (0.5, "Work")]
