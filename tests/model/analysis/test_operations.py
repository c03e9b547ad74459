"""A walk through the model: shapes, counts and wiring equal the modules'."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model.analysis.operations import flatten, layer_by_layer, least_loss, record, smoothed, smoothed_loss, tempered
from model.config import EOS
from model.dry_run import points
from model.edits import HeadEdit, HeadEdits
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


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_parameters_are_counted_once_and_operations_read_what_was_computed_before(
    scheme: dict[str, Any], whole: bool
) -> None:
    """Except the two embeddings, every operation reads something that was recorded."""
    model = tiny_model(**scheme)
    found = record(model, SOURCE, PATH, 3, whole=whole).operations
    assert sum(operation.parameters for operation in found.values()) == count_parameters(model)
    names = list(found)
    for i, (name, operation) in enumerate(found.items()):
        assert all(names.index(each) < i for each in operation.reads)
        assert bool(operation.reads) == (name not in ("src.embedding", "tgt.embedding"))


def test_a_changed_head_is_recorded_as_the_model_goes_on_with_it() -> None:
    model = tiny_model()
    row = HeadEdit("cross", 1, 2, "row", row=1, values=np.array([0, 1, 0, 0, 0], np.float32))
    edit = HeadEdits((row, HeadEdit("encoder", 0, 0, "zero")))
    step, whole = (record(model, SOURCE, PATH, 3, whole=whole, edit=edit) for whole in (False, True))
    torch.testing.assert_close(step.logits, whole.logits, rtol=0, atol=1e-5)
    weights = whole["decoder.1.cross_attn.weights"].value[0, 2]
    assert weights[1].tolist()[:2] == [0, 1]
    own = record(model, SOURCE, PATH, 3, whole=True)
    assert not torch.equal(own["decoder.1.cross_attn.weights"].value[0, 2, 1], weights[1])
    assert float(whole["encoder.0.self_attn.output"].value[0, 0].abs().max()) == 0
    assert not torch.equal(own.logits, whole.logits)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_the_wiring_is_the_models(norm_first: bool, whole: bool) -> None:
    """Results recomputed from what an operation reads equal the recorded results."""
    model = tiny_model(norm_first=norm_first)
    found = record(model, SOURCE, PATH, 3, whole=whole)

    def inputs(name: str) -> list[torch.Tensor]:
        return [found[each].value for each in found[name].reads]

    modules = {point.name: point.module for point in points(model.config)}
    with torch.inference_mode():
        for name, operation in found.operations.items():
            if operation.short.startswith(("q_proj", "k_proj", "v_proj", "out_proj", "linear", "norm")):
                (given,), module = inputs(name), model.get_submodule(modules[name])
                torch.testing.assert_close(module(given), operation.value, rtol=0, atol=1e-6)
            elif operation.short.startswith("residual"):
                assert torch.equal(sum(inputs(name)), operation.value)
            elif operation.short == "output":
                weights, value = inputs(name)
                torch.testing.assert_close(weights @ value, operation.value, rtol=0, atol=1e-6)
            elif operation.short == "scores":
                query, key = inputs(name)
                scores = query @ key.mT / query.size(-1) ** 0.5
                torch.testing.assert_close(scores, operation.value, rtol=0, atol=1e-6)
            elif operation.short == "activation":
                assert torch.equal(inputs(name)[0].relu(), operation.value)
            elif operation.short == "scaled":
                assert torch.equal(inputs(name)[0] * 4.0, operation.value)
        (last,) = inputs("logits")
        torch.testing.assert_close(model.output(last[:, -1]), found.logits[None], rtol=0, atol=1e-6)


def test_a_step_reads_one_token_and_a_whole_run_all_of_them() -> None:
    model = tiny_model()
    step, whole = record(model, SOURCE, PATH, 3), record(model, SOURCE, PATH, 3, whole=True)
    assert step["tgt.positions"].shape == (1, 1, 16)
    assert whole["tgt.positions"].shape == (1, 3, 16)
    assert step["decoder.2.self_attn.scores"].shape == (1, 4, 1, 3)
    assert whole["decoder.2.self_attn.scores"].shape == (1, 4, 3, 3)
    torch.testing.assert_close(step.logits, whole.logits, rtol=0, atol=1e-5)
    chances = step["softmax"].value[0]
    assert chances[:2].tolist() == [0.0, 0.0], "<pad> and <sos> are never predicted"
    torch.testing.assert_close(chances[2:], step.logits[2:].softmax(-1), rtol=0, atol=1e-6)
    masked = whole["decoder.0.self_attn.masked"]  # its numbers leave closed cells out
    opened = whole["decoder.0.self_attn.scores"].value[0][:, torch.ones(3, 3).tril().bool()]
    assert masked.mean == pytest.approx(float(opened.mean()), abs=1e-6)
    assert masked.standard_deviation == pytest.approx(float(opened.std(unbiased=False)), abs=1e-6)
    logits = torch.tensor([2.0, 1.0, 0.0])
    torch.testing.assert_close(tempered(logits, 0.5), (2 * logits).softmax(-1))
    with pytest.raises(ValueError, match="above 0"):
        tempered(logits, 0.0)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_the_last_layer_of_the_lens_is_the_prediction(norm_first: bool, whole: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    found = record(model, SOURCE, PATH, 4, whole=whole)
    lens = layer_by_layer(model, found)
    assert lens.shape == (4, 4 if whole else 1, model.config.tgt_vocab_size)
    torch.testing.assert_close(lens[-1, -1], found.logits, rtol=0, atol=1e-6)
    assert not torch.allclose(lens[0, -1], found.logits, atol=1e-3)


def test_a_flat_picture_keeps_what_is_flat() -> None:
    generator = torch.Generator().manual_seed(0)
    plane = torch.randn(9, 2, generator=generator) @ torch.randn(2, 16, generator=generator)
    found = flatten(plane + 3.0)
    assert found.explained_variance == pytest.approx(1.0)
    points = torch.from_numpy(found.points)
    torch.testing.assert_close(torch.cdist(points, points), torch.cdist(plane, plane), rtol=0, atol=1e-3)
    assert flatten(torch.ones(4, 16)).explained_variance == 1.0
    assert flatten(torch.randn(1, 16)).points.shape == (1, 2)
    assert 0.1 < flatten(torch.randn(40, 16, generator=generator)).explained_variance < 0.6


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_smoothing_is_that_of_training(epsilon: float) -> None:
    logits = torch.randn(11, generator=torch.Generator().manual_seed(0))
    expected = F.cross_entropy(logits[None], torch.tensor([4]), label_smoothing=epsilon)
    assert smoothed_loss(logits, 4, epsilon) == pytest.approx(float(expected), abs=1e-6)
    assert float(smoothed(11, 4, epsilon).sum()) == pytest.approx(1.0)
    best = smoothed(11, 4, epsilon).clamp_min(1e-30).log()
    assert least_loss(11, epsilon) == pytest.approx(smoothed_loss(best, 4, epsilon), abs=1e-5)
