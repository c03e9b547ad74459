"""Cross-attention over words only: without <eos>, other specials and punctuation, its rows scaled to 1 again."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import AttentionMaps


def over_words(maps: AttentionMaps, words: tuple[int, ...]) -> tuple[AttentionMaps, NDArray[np.float64]]:
    """Leave out the columns that are no words; also return the mean share of the rows that was there, [layer, head].

    `words`: the word of each source token, -1 for specials. A row without weight on any word becomes zeros.
    """
    kept = np.array(
        [
            words[start] >= 0 and not all(unicodedata.category(letter)[0] == "P" for letter in text)
            for text, (start, _) in zip(maps.columns, maps.column_spans, strict=True)
        ],
        dtype=np.bool_,
    )
    exact = maps.weights.astype(np.float64)
    whole, rest = exact.sum(axis=-1), exact[..., kept].sum(axis=-1)
    scaled = exact[..., kept] / np.where(rest > 0, rest, 1.0)[..., None]
    left_out = np.where(whole > 0, 1 - rest / np.where(whole > 0, whole, 1.0), 0.0).mean(axis=-1)
    places = np.flatnonzero(kept)
    return replace(
        maps,
        weights=scaled.astype(np.float32),
        mask=maps.mask[:, kept],
        columns=tuple(maps.columns[i] for i in places),
        column_spans=tuple(maps.column_spans[i] for i in places),
    ), left_out
