"""Cross-attention over words only: what is left out, the scaling, and rows that look at no word."""

from __future__ import annotations

import numpy as np

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.content_words import over_words
from tests.explorer.probed import observed, one_hot


def test_specials_and_punctuation_are_left_out_and_rows_scaled_to_1() -> None:
    def head(query: int, keys: int) -> np.ndarray:
        return one_hot(3, keys) if query == 1 else np.array([0.2, 0.1, 0.2, 0.5], np.float32)

    item = observed(4, 3, cross=(head,), src_tokens=("Hund", "…!", "don't"))
    maps = attention_maps(item.trace, "cross")
    words, left_out = over_words(maps, item.trace.src_words)
    assert words.columns == ("Hund", "don't")
    assert words.column_spans == ((0, 1), (2, 3)), "positions stay those of the tokens"
    np.testing.assert_allclose(words.weights[0, 0], [[0.5, 0.5], [0, 0], [0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(left_out, [[2.2 / 3]], atol=1e-6)
    assert maps.columns[-1] == "<eos>", "the map itself stays as it was"
