"""Scores of all statistics resampled at once, against each by itself."""

from __future__ import annotations

import numpy as np

from explorer.probing.measurement import SentenceScores, summarised
from model.analysis import bootstrap


def test_each_difference_is_taken_from_its_own_baseline() -> None:
    rng = np.random.default_rng(0)

    def drawn() -> SentenceScores:
        own = rng.random((40, 2, 3))
        own[rng.random(40) < 0.2] = np.nan
        return SentenceScores(own, rng.random(40), rng.random((40, 2)), rng.random((2, 6)))

    items = {"one": drawn(), "two": drawn()}
    for name, found in summarised(items).items():
        item = items[name]
        for estimate, values in (
            (found.estimate, item.own),
            (found.over_uniform, item.own - item.uniform[:, None, None]),
            (found.over_untrained, item.own - item.untrained[:, :, None]),
        ):
            alone = bootstrap.of_mean(values)
            for part in ("value", "low", "high"):
                assert np.allclose(getattr(estimate, part), getattr(alone, part))
        assert found.sentences == int(np.isfinite(item.own).all(axis=(1, 2)).sum())
    assert summarised({}) == {}
