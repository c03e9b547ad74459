"""Alignment error rate between words against sets of links, counted as Och & Ney (2003) write it."""

from __future__ import annotations

import numpy as np
import pytest

from model.analysis.word_alignment import error_rate, word_counts, word_gold, word_links
from model.data.task import WordLinks
from model.text.tokenizer import Encoding

# "playing ball now" / "spielt Ball jetzt", of which both verbs are two tokens.
SOURCE = Encoding((5, 6, 7, 8), ("play", "ing", "ball", "now"), ((0, 4), (4, 7), (8, 12), (13, 16)), (0, 0, 1, 2), "x")
TARGET = Encoding((5, 6, 7, 8), ("sp", "ielt", "Ball", "jetzt"), ((0, 2), (2, 6), (7, 11), (12, 17)), (0, 0, 1, 2), "y")
LINKS = WordLinks(
    ((0, 7), (8, 12), (13, 16)),
    ((0, 6), (7, 11), (12, 17)),
    frozenset({(0, 0), (1, 1)}),
    frozenset({(0, 0), (1, 1), (2, 2), (1, 0)}),
)


def weights(*keys: int) -> np.ndarray:
    """[query, key] with these largest keys; five keys, the last of them <eos>."""
    return np.stack([np.eye(5)[key] * 0.6 + 0.08 for key in keys])


@pytest.mark.parametrize(
    ("keys", "read", "suggested"),
    [
        # By row: "sp", "ielt", "Ball", "jetzt", <eos>.
        ((0, 1, 2, 3, 4), False, {(0, 0), (1, 1), (2, 2)}),
        ((0, 2, 2, 4, 0), False, {(0, 0), (1, 0), (1, 1)}),  # <eos> as a key, and the row of <eos>, suggest nothing
        ((3, 3, 3, 3, 3), False, {(2, 0), (2, 1), (2, 2)}),
        ((4, 0, 1, 2, 3), True, {(0, 0), (1, 1), (2, 2)}),  # the row that reads a token is one further down
    ],
)
def test_links_between_words_and_their_error_rate(keys: tuple[int, ...], read: bool, suggested: set) -> None:
    gold = word_gold(LINKS, SOURCE, TARGET)
    found = word_links(weights(*keys), gold, read=read)
    assert {(int(i), int(j)) for j, i in np.argwhere(found > 0.5)} == suggested
    assert np.allclose(found, found.round())
    rate = error_rate(*word_counts(weights(*keys), gold, read=read))
    a, s, p = suggested, LINKS.sure, LINKS.possible
    assert rate == pytest.approx(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))


def test_a_guess_is_counted_as_often_as_it_is_right() -> None:
    """Uniform weights: the expected counts over all choices of a key for each token, each alike."""
    gold = word_gold(LINKS, SOURCE, TARGET)
    hits, total = word_counts(np.full((5, 5), 0.2), gold)
    rows = np.array(np.meshgrid(*[range(5)] * 4, indexing="ij")).reshape(4, -1).T
    counted = []
    for keys in rows:
        a = {((0, 0, 1, 2)[key], (0, 0, 1, 2)[token]) for token, key in enumerate(keys) if key < 4}
        counted.append((len(a & LINKS.sure) + len(a & LINKS.possible), len(a) + len(LINKS.sure)))
    assert np.allclose((hits, total), np.mean(counted, axis=0))
