"""Every aggregate by its name: the map that it computes from the numbers it requests."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.decoding.aggregates import aggregate, meaning
from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.coordinates import NoSingleHead, Place
from explorer.decoding.labelled_map import LabelledMap
from tests.explorer.shown_maps import noisy

TRACE = noisy()
MAPS = attention_maps(TRACE, "cross")
WEIGHTS = TRACE.cross


def made(name: str, at: Place, numbers: np.ndarray | None = None) -> LabelledMap:
    assert (numbers is None) == name.startswith(("mean", "max"))
    return aggregate(name, MAPS, at, lambda _: numbers)


def test_means_and_maxima_over_heads_and_layers() -> None:
    at = Place("cross", 2, 1)
    expected = {
        "mean-heads": WEIGHTS[1].mean(0),
        "max-heads": WEIGHTS[1].max(0),
        "mean-all": WEIGHTS.mean((0, 1)),
        "max-all": WEIGHTS.max((0, 1)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(made(name, at).values, values, atol=1e-6)


def test_numbers_of_the_place_are_taken_and_named_from_1() -> None:
    at = Place("cross", 2, 1)
    rollout = made("rollout", at, WEIGHTS[:, 0])
    np.testing.assert_array_equal(rollout.values, WEIGHTS[1, 0])
    assert rollout.title == "Rollout after layer 2"
    norms = made("norm", at, 5 * WEIGHTS)
    np.testing.assert_array_equal(norms.values, 5 * WEIGHTS[1, 0])
    assert norms.title == "Layer 2, head 1: ‖weight × value × W_O‖"
    assert norms.top is None, "lengths have no natural upper end"
    np.testing.assert_allclose(made("norm-share", at, 5 * WEIGHTS).values.sum(-1), 1, atol=1e-5)
    np.testing.assert_array_equal(made("norm-layer", at, WEIGHTS[:, 1]).values, WEIGHTS[1, 1])


@pytest.mark.parametrize("name", ["norm", "norm-share"])
def test_the_norms_of_a_head_need_a_single_head(name: str) -> None:
    with pytest.raises(NoSingleHead):
        made(name, Place("cross", 1, 0), WEIGHTS)


def test_the_meaning_names_its_source_and_what_a_decoder_row_lacks() -> None:
    assert meaning("rollout", "encoder").endswith("(Abnar & Zuidema 2020.)")
    assert "the rest of each row comes from the source" in meaning("rollout", "decoder")
    assert meaning("norm", "cross").endswith("(Kobayashi et al. 2020.)")
    assert "2020" not in meaning("mean-all", "cross")
