"""Summaries of distributions over the next token, on numbers that can be checked by hand."""

from __future__ import annotations

import pytest
import torch

from model.analysis.predictions import effective_choices, layer_predictions, likeliest_with, shares


def test_layer_predictions_follow_the_final_token_through_the_stages() -> None:
    probabilities = torch.tensor([[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [[0.1, 0.8, 0.1], [0.1, 0.3, 0.6]]])
    found = layer_predictions(probabilities.log())
    assert found.likeliest.tolist() == [[0, 0], [1, 2]]
    assert found.probabilities.ravel() == pytest.approx([0.7, 0.5, 0.8, 0.6], abs=1e-6)
    assert found.final == 2
    assert found.final_probabilities == pytest.approx([0.2, 0.6], abs=1e-6)
    assert found.ranks.tolist() == [3, 1]
    ruled = layer_predictions(probabilities.log(), never=(2, 0))
    assert (ruled.final, ruled.ranks.tolist()) == (1, [2, 2]), "a token that is never chosen counts, and is not chosen"
    assert ruled.never == (0, 2), "those in view are named"


def test_effective_choices_are_those_of_equally_likely_tokens() -> None:
    assert effective_choices(torch.full((8,), 1 / 8)) == pytest.approx(8, abs=1e-5)
    assert effective_choices(torch.tensor([1.0, 0.0])) == 1.0


def test_the_likeliest_tokens_hold_the_one_in_question() -> None:
    probabilities = torch.tensor([0.1, 0.4, 0.2, 0.3])
    assert likeliest_with(probabilities, 1, 2) == [1, 3]
    assert likeliest_with(probabilities, 0, 2) == [1, 0]
    assert likeliest_with(probabilities, 0, 9) == [1, 3, 2, 0]
    assert shares(probabilities, [3, 1]) == pytest.approx([0.3, 0.4])
