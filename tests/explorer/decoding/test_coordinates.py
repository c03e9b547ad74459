"""Places count from 1, arrays from 0."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.decoding.coordinates import NoSingleHead, Place


def test_a_place_and_the_index_of_its_head_are_converted_both_ways() -> None:
    weights = np.arange(6).reshape(2, 3)
    for index in np.ndindex(2, 3):
        place = Place.at_index("cross", *index)
        assert place.index == index
        assert weights[place.index] == weights[place.layer - 1, place.head - 1]


def test_the_mean_over_heads_has_no_index() -> None:
    with pytest.raises(NoSingleHead, match="Choose one head"):
        _ = Place("cross", 2, 0).index


def test_places_are_named_from_1() -> None:
    assert Place.at_index("encoder", 0, 1).short_name == "L1 H2"
    assert Place("encoder", 1, 2).title == "Encoder self-attention, layer 1, head 2"
