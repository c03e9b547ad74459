"""Texts about the probabilities of a typed target, checked by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.target_probabilities import (
    log_probability,
    perplexity,
    probability_caption,
    probability_columns,
)
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


def test_the_least_expected_token_is_named_apart_from_the_sentence(trace: AttentionTrace) -> None:
    caption = probability_caption(trace)
    assert f"Least expected: “2 {trace.predicted_tokens[1]}” (12 %)" in caption
    assert "first choice was “red” (75 %)." in caption


def test_the_columns_have_a_token_each_behind_its_position(trace: AttentionTrace) -> None:
    columns = probability_columns(trace)
    assert columns["token"][0] == f"1 {trace.predicted_tokens[0]}"
    assert columns["probability"][:2] == [50.0, 12.5]
    assert set(columns["first"]) == {"red (75 %)"}


def test_a_token_that_is_ruled_out_leaves_perplexity_finite(trace: AttentionTrace) -> None:
    impossible = replace(trace, probabilities=np.array([0.0] * len(trace.predicted_tokens), np.float32))
    assert log_probability(impossible) == -math.inf
    assert perplexity(impossible) == math.exp(700)
