"""Attention between words: sums over the keys of a word, means over its queries, rows by what they predict."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from explorer.decoding.attention_maps import attention_maps, has_subwords, spans
from model.trace import FUTURE, AttentionTrace
from tests.explorer.planted import planted_trace
from tests.explorer.planted_heads import random_trace

SOURCE = ("un", "break", "able", "cups", "<eos>")
TARGET = ("<sos>", "un", "zerbrech", "liche", "tassen")


def subwords() -> AttentionTrace:
    """Source words 0 0 0 1; target words 0 | 0 0 | 1 as read; a word of several tokens on either side."""
    trace = random_trace(SOURCE, TARGET)
    return dataclasses.replace(trace, src_words=(0, 0, 0, 1, -1), tgt_words=(-1, 0, 0, 0, 1))


def test_spans_are_runs_of_one_word_and_specials_stay_alone() -> None:
    assert spans((0, 0, 1, -1, -1, 2)) == ((0, 2), (2, 3), (3, 4), (4, 5), (5, 6))
    assert spans((3,)) == ((0, 1),)
    assert spans(()) == ()


def test_tokens_are_the_trace_itself() -> None:
    trace = subwords()
    for kind in ("encoder", "decoder", "cross"):
        maps = attention_maps(trace, kind)
        assert maps.weights is trace.weights(kind)
        assert maps.mask is trace.mask(kind)


def test_keys_are_summed_and_queries_averaged() -> None:
    trace = subwords()
    maps = attention_maps(trace, "cross", "words")
    assert maps.rows == ("<sos>", "unzerbrechliche", "tassen")
    assert maps.columns == ("unbreakable", "cups", "<eos>")
    for layer, head in np.ndindex(*trace.cross.shape[:2]):
        weights = trace.cross[layer, head].astype(np.float64)
        expected = np.mean([weights[q, 0] + weights[q, 1] + weights[q, 2] for q in (1, 2, 3)])
        assert maps.weights[layer, head, 1, 0] == pytest.approx(expected, abs=1e-7)
        assert maps.weights[layer, head, 2, 1] == trace.cross[layer, head, 4, 3]
    np.testing.assert_allclose(maps.weights.sum(axis=-1), 1, atol=1e-6)


def test_rows_can_be_merged_by_the_word_that_they_predict() -> None:
    trace = subwords()
    maps = attention_maps(trace, "cross", "words-next")
    assert maps.row_spans == ((0, 3), (3, 4), (4, 5))
    assert maps.predicted == ("unzerbrechliche", "tassen", "<eos>")
    assert maps.rows[1] == "liche"
    expected = trace.cross[0, 0, :3, :3].astype(np.float64).sum(axis=-1).mean()
    assert maps.weights[0, 0, 0, 0] == pytest.approx(expected, abs=1e-7)
    assert (
        attention_maps(trace, "encoder", "words-next").row_spans == attention_maps(trace, "encoder", "words").row_spans
    )


def test_a_merged_cell_is_masked_only_if_all_of_its_cells_are() -> None:
    maps = attention_maps(subwords(), "decoder", "words")
    assert maps.mask.tolist() == [[0, FUTURE, FUTURE], [0, 0, FUTURE], [0, 0, 0]]
    assert not maps.weights[:, :, maps.mask != 0].any()


def test_words_and_tokens_may_be_the_same() -> None:
    trace = planted_trace()
    assert not has_subwords(trace)
    assert has_subwords(subwords())
    assert attention_maps(trace, "cross", "words").weights is trace.cross
