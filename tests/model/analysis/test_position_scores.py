"""What scores know of positions: planted scores give known spreads, and each scheme what its formula promises."""

from __future__ import annotations

import pytest
import torch

from model.analysis.position_scores import by_distance, scores_with_distance, scores_with_rotation, scores_with_rows
from model.positions import sinusoidal_table


def test_scores_are_gathered_by_distance() -> None:
    found = by_distance(torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0], [6.0, 4.0, 0.0]]))
    assert found.distances == (-2, -1, 0, 1, 2)
    assert found.mean == (6.0, 3.5, 0.0, 3.0, 2.0)
    assert found.low == (6.0, 3.0, 0.0, 1.0, 2.0)
    assert found.high == (6.0, 4.0, 0.0, 5.0, 2.0)
    assert found.spread == pytest.approx((5 - 1) / 6)
    assert found.asymmetry == pytest.approx((6 - 2) / 6)


@pytest.mark.parametrize("width", [4, 64])
def test_only_rotation_and_distance_leave_the_place_out(width: int) -> None:
    """A distance is taken off alike on both sides; without positions, all scores are equal."""
    assert by_distance(scores_with_rotation(40, width)).spread < 1e-12
    assert by_distance(scores_with_distance(40, width, 3)).spread < 1e-12
    assert by_distance(scores_with_rows(sinusoidal_table(40, width))).spread > 0.1
    scores = scores_with_distance(40, width, 3)
    assert by_distance(scores).asymmetry < 1e-12
    assert torch.allclose(scores[0, 0] - scores[0], torch.arange(40, dtype=torch.float64) / 8)
    assert by_distance(scores_with_rotation(40, width)).asymmetry > 0.01
    equal = scores_with_rows(torch.zeros(6, width, dtype=torch.float64))
    assert torch.allclose(equal, equal[0, 0].expand(6, 6))
    assert by_distance(equal).spread == by_distance(equal).asymmetry == 0.0
