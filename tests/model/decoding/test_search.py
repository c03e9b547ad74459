"""Search: greedy, and sampling at a temperature."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoding.beam import beam_search
from model.decoding.decode import decode_batch
from model.decoding.search import (
    Hypothesis,
    OutputRules,
    allowed_log_probs,
    follow,
    greedy,
    length_penalty,
    sample,
    target_log_probs,
)
from model.decoding.temperature import TEMPERATURES, log_sums
from tests.model.tables import GARDEN_PATH, A, B, C, TableModel, beam, best_by_beam
from tests.tiny import sources, tiny_model


def test_a_first_token_that_is_set_is_certain_at_the_first_step_alone() -> None:
    """Greedy search would begin with A."""
    rules, model = OutputRules(first=B), TableModel([GARDEN_PATH])
    first, second = greedy(model.step, model.start(), limit=6, rules=rules)
    assert first.log_probs[0].exp().tolist() == [float(i == B) for i in range(7)]
    assert second.log_probs[0].exp().tolist() == pytest.approx([0, 0, 0.9, 0, 0.1, 0, 0])
    assert int(first.tokens[0]) == B
    best = best_by_beam(model, beam(3, "none"), rules=rules)[0]
    assert best.path == (B, EOS)
    assert best.log_prob == pytest.approx(math.log(0.9))
    logits = torch.randn(2, 3, 7)
    whole = target_log_probs(logits, rules)
    torch.testing.assert_close(whole[:, 1:], allowed_log_probs(logits)[:, 1:])
    assert whole[:, 0].exp().tolist() == [[float(i == B) for i in range(7)]] * 2


@pytest.mark.parametrize(
    ("name", "alpha", "length", "expected"),
    [
        ("none", 1.0, 7, 1.0),
        ("mean", 1.0, 7, 7.0),
        ("mean", 0.5, 9, 3.0),
        ("mean", 0.0, 9, 1.0),
        ("gnmt", 1.0, 1, 1.0),
        ("gnmt", 1.0, 7, 2.0),
        ("gnmt", 0.6, 13, 3.0**0.6),
    ],
)
def test_length_penalties_by_hand(name: str, alpha: float, length: int, expected: float) -> None:
    assert length_penalty(name, alpha, length) == pytest.approx(expected)


def test_greedy_takes_the_likeliest_tokens_and_each_sentence_of_a_batch_ends_on_its_own() -> None:
    """At its end or at its limit; after it there is padding, and nothing else changes for the others."""
    model = TableModel([GARDEN_PATH, {(B,) * n: {A: 0.1, B: 0.9} for n in range(20)}, {(): {B: 1.0}}])
    steps = list(greedy(model.step, model.start(), limit=[9, 4, 9]))
    assert [step.tokens.tolist() for step in steps] == [[A, B, B], [A, B, EOS], [EOS, B, PAD], [PAD, B, PAD]]
    assert [step.finished for step in steps] == [(False,) * 3, (False, False, True), (True, False, True), (True,) * 3]
    assert [step.log_probs[0].exp().sum().item() for step in steps[:3]] == pytest.approx([1.0] * 3)
    first, cut, last = follow(steps)
    assert first == Hypothesis((A, A), first.log_prob, first.score, finished=True)
    assert first.path == (A, A, EOS)
    assert first.log_prob == pytest.approx(math.log(0.55 * 0.4))
    assert (cut.tokens, cut.path, cut.finished) == ((B,) * 4, (B,) * 4, False)
    assert (last.tokens, last.finished, last.log_prob) == ((B,), True, pytest.approx(0.0))


def test_steps_are_lazy_and_immutable() -> None:
    model = TableModel([GARDEN_PATH])
    walks: list[Iterator[Any]] = [
        greedy(model.step, model.start(), limit=9),
        beam_search(model.step, model.start(), limit=9, config=beam()),
    ]
    for walk in walks:
        model.calls.clear()
        first = next(walk)
        assert len(model.calls) == 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            first.index = 5


def test_forbidden_ids_are_never_an_answer() -> None:
    model = TableModel([{(): {PAD: 0.5, SOS: 0.3, A: 0.1, B: 0.1 - 1e-3}}])
    [found] = follow(list(greedy(model.step, model.start(), limit=3)))
    assert found.tokens == (A,)
    assert found.log_prob == pytest.approx(math.log(0.1 / 0.199), abs=1e-4)
    [found] = best_by_beam(model, beam(1))
    assert found.tokens == (A,)
    logits = torch.tensor([[5.0, 4.0, 1.0, 2.0, 3.0]])
    log_probs = allowed_log_probs(logits)
    assert log_probs[0, [PAD, SOS]].tolist() == [-math.inf, -math.inf]
    torch.testing.assert_close(log_probs[0, 2:], logits[0, 2:].log_softmax(-1))
    assert logits[0, 0] == 5.0, "the model's own logits must not change"


def draw_first(table, n: int, **settings) -> Tensor:
    """Draw the first token n times (n rows of one batch)."""
    model = TableModel([table] * n)
    config = DecodeConfig(method="sample", **settings)
    return next(sample(model.step, model.start(), limit=1, config=config)).tokens


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_samples_follow_the_probabilities_at_a_temperature(temperature: float) -> None:
    n, chances = 4000, {A: 0.6, B: 0.3, C: 0.1}
    drawn = draw_first({(): chances}, n, seed=5, temperature=temperature)
    whole = sum(p ** (1 / temperature) for p in chances.values())
    for token, p in chances.items():
        expected = p ** (1 / temperature) / whole
        deviation = math.sqrt(expected * (1 - expected) / n)
        assert abs((drawn == token).float().mean().item() - expected) < 4.5 * deviation


def test_sampling_stays_inside_top_k_and_top_p() -> None:
    def drawn(**limits: float) -> set[int]:
        return set(draw_first({(): {A: 0.5, B: 0.3, C: 0.2}}, 500, **limits).tolist())

    assert drawn(top_k=2) == drawn(top_p=0.75) == {A, B}
    assert drawn() == drawn(top_p=0.85) == {A, B, C}
    assert drawn(top_p=0.01) == drawn(top_k=3, top_p=0.4) == {A}


def test_the_limit_counts_the_end_and_follows_the_source() -> None:
    model = tiny_model(seed=2)
    for n_source in (1, 4):
        [[found]] = decode_batch(model, sources(n_source), DecodeConfig())
        assert len(found.path) <= 2 * n_source + 10
    [[short]] = decode_batch(model, sources(4), DecodeConfig(max_length=1))
    assert len(short.path) == 1


def at_temperature(probabilities: NDArray[np.float32], log_sum: float, temperature: float) -> NDArray[np.float64]:
    """What the browser makes of probabilities at temperature 1 and the logarithm of the sum at another."""
    with np.errstate(divide="ignore"):
        return np.exp(np.log(probabilities.astype(np.float64)) / temperature - log_sum)


@pytest.mark.parametrize("sharpness", [0.1, 3.0, 40.0])
def test_they_are_the_softmax_of_the_logits_over_the_temperature(sharpness: float) -> None:
    logits = sharpness * torch.randn(5, 900, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    logits[:, [0, 1]] = -torch.inf  # never predicted
    log_probs = logits.log_softmax(-1)
    sums = log_sums(log_probs).numpy()
    top = log_probs.topk(10, dim=-1)
    for i, temperature in enumerate(TEMPERATURES):
        exact = (logits / temperature).softmax(-1).gather(1, top.indices).numpy()
        for row in range(5):
            shown = at_temperature(top.values[row].exp().float().numpy(), sums[row, i], temperature)
            np.testing.assert_allclose(shown, exact[row], rtol=3e-4, atol=1e-7)
            assert shown.sum() <= 1 + 1e-5
