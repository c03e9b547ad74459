"""What heads, rows and columns are called."""

from __future__ import annotations

from typing import get_args

from explorer.decoding import names
from model.config import AttentionKind


def test_every_kind_has_a_name_and_axis_titles() -> None:
    assert set(names.KIND_NAMES) == set(names.KIND_TITLES) == set(names.AXIS_TITLES) == set(get_args(AttentionKind))
    assert names.KIND_TITLES["decoder"] == "Masked decoder self-attention"


def test_a_head_is_named_in_a_title_and_where_room_is_short() -> None:
    assert names.head_title("cross", 1, 2) == "Cross-attention, layer 1, head 2"
    assert names.short_name(1, 2) == "L1 H2"


def test_head_0_is_the_mean() -> None:
    assert names.head_title("encoder", 3, 0) == "Encoder self-attention, layer 3, mean over its heads"
    assert names.short_name(3, 0) == "L3 mean"


def test_indices_of_arrays_count_from_0_and_names_from_1() -> None:
    assert names.index_name(0, 1) == names.short_name(1, 2) == "L1 H2"


def test_repeated_tokens_stay_apart() -> None:
    assert names.numbered(["the", "cat", "the"]) == ("1 the", "2 cat", "3 the")
    assert names.numbered(["the"], first=4) == ("4 the",)


def test_a_decoder_row_says_what_it_reads_and_what_it_predicts() -> None:
    assert names.row_label("2 je", "lis") == "2 je → lis"
