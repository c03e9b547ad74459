"""Which tokens of a path are not the model's likeliest, and the step at which a translation opens."""

from __future__ import annotations

import dataclasses

import numpy as np

from explorer.decoding.decoding import chosen_rows, step_worth_seeing
from model.trace import AttentionTrace
from tests.explorer.planted import planted_trace


def with_probabilities(*rows: tuple[float, float]) -> AttentionTrace:
    """A trace whose rows have these probabilities of the two likeliest tokens; further ones have none."""
    trace = planted_trace()
    top = np.zeros_like(trace.top_probabilities)
    top[:, :2] = rows
    return dataclasses.replace(trace, top_probabilities=top)


def test_the_likeliest_tokens_were_not_chosen() -> None:
    trace = planted_trace()
    assert chosen_rows(trace, [int(i) for i in trace.top_ids[:, 0]]) == ()


def test_other_tokens_were() -> None:
    trace = planted_trace()
    path = [int(i) for i in trace.top_ids[:, 0]]
    path[1], path[3] = int(trace.top_ids[1, 2]), 999
    assert chosen_rows(trace, path) == (1, 3)


def test_it_opens_at_the_closest_race() -> None:
    trace = with_probabilities((0.9, 0.1), (0.5, 0.3), (0.4, 0.35), (0.6, 0.2), (0.5, 0.5))
    assert step_worth_seeing(trace) == 3, "the last row, the end of the sentence, does not count"


def test_of_equal_races_the_first_one_counts() -> None:
    assert step_worth_seeing(with_probabilities((0.9, 0.1), (0.5, 0.25), (0.5, 0.25), (0.9, 0.0), (1.0, 0.0))) == 2


def test_an_example_names_its_word() -> None:
    trace = with_probabilities((0.9, 0.1), (0.5, 0.3), (0.4, 0.35), (0.6, 0.2), (0.5, 0.5))
    word = trace.predicted_tokens[3]
    assert step_worth_seeing(trace, word) == trace.predicted_tokens.index(word) + 1
    assert step_worth_seeing(trace, "no such word") == 3
