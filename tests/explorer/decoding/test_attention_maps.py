"""Attention between words, and the numbers under the thumbnails, on heads whose role is known by construction."""

import dataclasses
import math

import numpy as np
import pytest

from explorer.decoding.attention_maps import MIXED, attention_maps
from model.config import ATTENTION_KINDS
from model.trace import FUTURE, AttentionTrace
from tests.explorer.planted import planted_trace
from tests.explorer.planted_heads import heads_trace, random_trace

SOURCE = ("un", "break", "able", "cups", "<eos>")
TARGET = ("<sos>", "un", "zerbrech", "liche", "tassen")


def subwords() -> AttentionTrace:
    """Source words 0 0 0 1; target words 0 | 0 0 | 1 as read; a word of several tokens on either side."""
    trace = random_trace(SOURCE, TARGET)
    return dataclasses.replace(trace, src_words=(0, 0, 0, 1, -1), tgt_words=(-1, 0, 0, 0, 1))


def test_a_merged_cell_is_masked_only_if_all_of_its_cells_are() -> None:
    maps = attention_maps(subwords(), "decoder", "words")
    assert maps.mask.tolist() == [[0, FUTURE, FUTURE], [0, 0, FUTURE], [0, 0, 0]]
    assert not maps.weights[:, :, maps.mask != 0].any()


def test_a_uniform_head_looks_at_as_many_keys_as_there_are() -> None:
    trace = heads_trace()
    trace.encoder_mask[2] = 2
    trace.encoder[:, :, 2] = 0
    assert attention_maps(trace, "cross").effective[0, -1] == pytest.approx(6)
    encoder = attention_maps(trace, "encoder")
    assert encoder.effective[0, -1] == pytest.approx(6), "a row that sees nothing is left out"
    assert encoder.shares["itself"][0, 0] == 1.0
    # Rows of 2 to 6 visible keys; the first row has no choice and does not count.
    decoder = attention_maps(trace, "decoder")
    assert decoder.effective[0, -1] == pytest.approx(np.mean([2, 3, 4, 5, 6]))
    assert decoder.shares["previous"][0, -1] == pytest.approx(np.mean([1 / n for n in (2, 3, 4, 5, 6)]))
    assert decoder.shares["previous"][0, -1] == pytest.approx(decoder.chance["previous"])


def test_one_token_has_no_choice() -> None:
    trace = planted_trace(("<eos>",), ("<sos>",), layers=(1, 1), heads=(1, 1))
    for kind in ATTENTION_KINDS:
        summary = attention_maps(trace, kind)
        assert math.isnan(summary.effective[0, 0])
        assert all(math.isnan(share[0, 0]) for share in summary.shares.values())
        assert summary.role(0, 0) == MIXED
