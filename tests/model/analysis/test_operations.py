"""A walk through the model: shapes, counts and wiring equal the modules'."""

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from model.analysis.operations import (
    layer_by_layer,
    least_loss,
    parameter_counts,
    record,
    smoothed,
    smoothed_loss,
    tempered,
)
from model.config import EOS
from model.dry_run import points
from model.embeddings import count_parameters
from tests.tiny import tiny_model

SOURCE, PATH = (5, 6, 7, 8), (9, 4, 8, EOS)
SCHEMES = [
    {"norm_first": pre, "residual": residual, "positions": positions, "share_embeddings": share}
    for pre, residual, positions, share in (
        (False, True, "sinusoidal", "none"),
        (True, True, "learned", "target"),
        (False, False, "none", "all"),
        (True, False, "sinusoidal", "all"),
    )
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_parameters_are_counted_once(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    counts = parameter_counts(model.config)
    assert sum(count for count, _ in counts.values()) == count_parameters(model)
    assert counts.keys() <= record(model, SOURCE, PATH, 3).operations.keys()


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_wiring_is_the_models(norm_first: bool) -> None:
    """Results recomputed from what an operation reads equal the recorded results."""
    model = tiny_model(norm_first=norm_first)
    found = record(model, SOURCE, PATH, 3)

    def inputs(name: str) -> list[torch.Tensor]:
        return [found[each].value for each in by_name[name].reads if each in found.operations]

    by_name = {point.name: point for point in points(model.config)}
    with torch.inference_mode():
        for name, operation in found.operations.items():
            if operation.short.startswith(("q_proj", "k_proj", "v_proj", "out_proj", "linear", "norm")):
                (given,), module = inputs(name), model.get_submodule(by_name[name].module)
                torch.testing.assert_close(module(given), operation.value, rtol=0, atol=1e-6)
        (last,) = inputs("logits")
        torch.testing.assert_close(model.output(last[:, -1]), found.logits[None], rtol=0, atol=1e-6)


def test_masked_cells_are_left_out_and_forbidden_tokens_have_no_chance() -> None:
    whole = record(tiny_model(), SOURCE, PATH, 3)
    assert whole["decoder.2.self_attn.scores"].shape == (1, 4, 3, 3)
    chances = whole["softmax"].value[0, -1]
    assert chances[:2].tolist() == [0.0, 0.0], "<pad> and <sos> are never predicted"
    torch.testing.assert_close(chances[2:], whole.logits[2:].softmax(-1), rtol=0, atol=1e-6)
    masked = whole["decoder.0.self_attn.masked"]  # its numbers leave closed cells out
    opened = whole["decoder.0.self_attn.scores"].value[0][:, torch.ones(3, 3).tril().bool()]
    assert masked.mean == pytest.approx(float(opened.mean()), abs=1e-6)
    assert masked.standard_deviation == pytest.approx(float(opened.std(unbiased=False)), abs=1e-6)
    logits = torch.tensor([2.0, 1.0, 0.0])
    torch.testing.assert_close(tempered(logits, 0.5), (2 * logits).softmax(-1))
    with pytest.raises(ValueError, match="above 0"):
        tempered(logits, 0.0)


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_last_layer_of_the_lens_is_the_prediction(norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    found = record(model, SOURCE, PATH, 4)
    lens = layer_by_layer(model, found)
    assert lens.shape == (4, 4, model.config.tgt_vocab_size)
    torch.testing.assert_close(lens[-1, -1], found.logits, rtol=0, atol=1e-6)
    assert not torch.allclose(lens[0, -1], found.logits, atol=1e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_smoothing_is_that_of_training(epsilon: float) -> None:
    logits = torch.randn(11, generator=torch.Generator().manual_seed(0))
    expected = F.cross_entropy(logits[None], torch.tensor([4]), label_smoothing=epsilon)
    assert smoothed_loss(logits, 4, epsilon) == pytest.approx(float(expected), abs=1e-6)
    assert float(smoothed(11, 4, epsilon).sum()) == pytest.approx(1.0)
    best = smoothed(11, 4, epsilon).clamp_min(1e-30).log()
    assert least_loss(11, epsilon) == pytest.approx(smoothed_loss(best, 4, epsilon), abs=1e-5)
