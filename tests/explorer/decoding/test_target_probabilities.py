"""Numbers of a decoding in words: a typed target, terms of a score, and what an edit changed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.score_parts import explanation, largest_terms
from explorer.decoding.target_probabilities import log_probability, perplexity
from model.analysis.score_terms import Part
from model.trace import AttentionTrace
from tests.explorer.planted import planted_trace


@pytest.fixture(scope="module")
def trace() -> AttentionTrace:
    """Tokens of which one has probability 1/8, the others 1/2; the first choice is always "red" with 3/4."""
    plain = planted_trace()
    n = len(plain.predicted_tokens)
    return replace(
        plain,
        probabilities=np.array([0.5, 0.125] + [0.5] * (n - 2), np.float32),
        top_tokens=(("red", "x"),) * n,
        top_ids=np.array([[7, 8]] * n),
        top_probabilities=np.array([[0.75, 0.25]] * n, np.float32),
    )


def test_log_probability_is_summed_and_perplexity_is_its_mean_per_token(trace: AttentionTrace) -> None:
    n = len(trace.predicted_tokens)
    assert log_probability(trace) == pytest.approx((n - 1) * math.log(0.5) + math.log(0.125))
    assert perplexity(trace) == pytest.approx(2 ** ((n - 1 + 3) / n))
    impossible = replace(trace, probabilities=np.zeros(n, np.float32))
    assert log_probability(impossible) == -math.inf
    assert perplexity(impossible) == math.exp(700), "finite"


QUERY = [Part("word"), Part("position")]
KEY = [Part("word"), Part("head", "encoder", 0, 1), Part("feed_forward", "encoder", 1)]
TABLE = np.array([[0.5, -0.25, 0.0], [3.0, 1.5, -0.75]])


def test_the_largest_terms_come_first_with_their_share() -> None:
    assert largest_terms(TABLE, 2) == [(1, 0), (1, 1)]
    said = explanation(TABLE, QUERY, KEY, (4, "reads"), (2, "books"))
    for part in (
        "6 terms that sum to +4.00: +5.00 above zero and −1.00 below. Largest: ",
        "the word “books” as key and position 4 as query: +3.00, 60 % of what raises it",
        "what encoder L1 H2 added as key and position 4 as query: +1.50, 30 % of what raises it",
        "what the feed-forward network of encoder L2 added as key and position 4 as query: −0.75, 75 % of what",
    ):
        assert part in said
