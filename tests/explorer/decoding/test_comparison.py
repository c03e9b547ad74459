"""Two maps side by side: equal scales, correct differences, and a note where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import NothingToCompare, compare, compare_rows, counterpart, single_row
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import LabelledMap, head_map, map_caption
from tests.explorer.planted import planted_trace


def planted(kind: str, *tokens: tuple[str, ...], head: int = 1) -> LabelledMap:
    return head_map(attention_maps(planted_trace(*tokens), kind), 1, head)


def test_a_difference_is_b_minus_a_on_a_scale_of_its_own() -> None:
    found = compare(planted("cross", head=1), planted("cross", head=2))
    assert found.difference is not None
    np.testing.assert_array_equal(found.difference.values, found.second.values - found.first.values)
    assert found.difference.signed
    assert found.caption == "Both maps have the same tokens."


def test_maps_of_different_size_have_no_difference() -> None:
    found = compare(planted("encoder"), planted("encoder", ("a", "b", "<eos>")))
    assert found.difference is None
    assert found.caption == "The maps differ in size (5 × 5 and 3 × 3), so there is no difference to draw."


def test_differing_tokens_are_counted() -> None:
    found = compare(planted("cross"), planted("cross", ("i", "read", "blue", "cars", "<eos>")))
    assert "0 of 5 rows and 2 of 5 columns have different tokens" in found.caption


def test_both_maps_share_the_larger_scale() -> None:
    one = replace(planted("cross"), top=None, values=planted("cross").values / 4)
    found = compare(one, replace(planted("cross"), top=None))
    assert found.first.scale == found.second.scale == 1.0


def test_two_rows_of_a_causal_map_are_compared_where_both_are_visible() -> None:
    shown = planted("decoder")
    found = compare(single_row(shown, 2), single_row(shown, 4))
    assert found.difference is not None
    np.testing.assert_array_equal(found.difference.mask, [[0, 0, 1, 1, 1]])
    assert map_caption(found.difference).startswith("The largest difference is -1.000")
    assert found.first.row_labels == ("2 je",)
    for row in (0, 6):
        with pytest.raises(IndexError, match="no row"):
            single_row(shown, row)


def test_the_row_in_view_is_compared_with_another_of_the_same_head() -> None:
    trace = planted_trace()
    found = compare_rows(trace, Place("cross", 1, 1, row=2), 4)
    assert (found.first.title, found.second.title) == ("A: 2 je", f"B: 4 {trace.read_tokens[3]}")
    assert found.difference is not None
    np.testing.assert_array_equal(found.difference.values[0], trace.cross[0, 0, 3] - trace.cross[0, 0, 1])


def test_a_smaller_model_is_compared_by_its_last_layer_and_head() -> None:
    small = planted_trace(layers=(1, 1), heads=(2, 2))
    found = counterpart(small, Place("cross", 3, 4), model="small", title="B: small")
    np.testing.assert_array_equal(found.values, small.cross[0, 1])
    assert found.title == "B: small. Cross-attention, layer 1, head 2"


def test_a_model_without_this_attention_has_no_counterpart() -> None:
    trace = planted_trace()
    bare = replace(trace, encoder=trace.encoder[:0])
    with pytest.raises(NothingToCompare, match=r"lstm has no encoder self-attention\."):
        counterpart(bare, Place("encoder", 1, 1), model="lstm", title="B")
