"""Fused attention in training: the same function of the same parameters, and never used where weights are shown."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model.config import PAD
from model.fast import training as fused
from model.fast.bf16 import Bf16Linear
from model.fast.short_attention import short_attention
from model.fast.training import FusedAttention, additive, training_twin
from model.recording import AttentionRecorder
from model.training.loss import TrainingLoss
from tests.tiny import EVERY_MODEL, kinds_of, sources, targets, tiny_lstm, tiny_model

VARIANTS = [each for each in EVERY_MODEL if each.get("architecture") != "lstm"]


@pytest.fixture(params=["short sentences", "kernel"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """On a CPU, few keys have an attention of their own; with none as few, the kernel is called."""
    if request.param == "kernel":
        monkeypatch.setattr(fused, "LONGEST", 0)
    return str(request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_it_is_the_same_function(variant: dict[str, Any]) -> None:
    model = tiny_model(**variant)
    src, tgt = sources(7, 3), targets(6, 4)
    real = tgt != PAD
    torch.testing.assert_close(
        training_twin(model, fused=True)(src, tgt)[real], model(src, tgt)[real], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_parameters_are_shared_and_the_model_stays_explicit(variant: dict[str, Any]) -> None:
    model = tiny_model(**variant)
    kinds = [type(module) for module in model.modules()]
    twin = training_twin(model, fused=True)
    assert [type(module) for module in model.modules()] == kinds
    ours, theirs = (
        dict(model.named_parameters(remove_duplicate=False)),
        dict(twin.named_parameters(remove_duplicate=False)),
    )
    assert ours.keys() == theirs.keys()
    assert all(theirs[name] is parameter for name, parameter in ours.items())
    assert {id(buffer) for buffer in twin.buffers()} == {id(buffer) for buffer in model.buffers()}
    assert sum(isinstance(module, FusedAttention) for module in twin.modules()) == sum(
        model.config.n_layers(kind) for kind in kinds_of(model)
    )
    linear = [sum(isinstance(part, kind) for part in twin.modules()) for kind in (Bf16Linear, nn.Linear)]
    assert linear[0] == linear[1] == sum(issubclass(kind, nn.Linear) for kind in kinds)
    assert Bf16Linear not in kinds


def test_the_kernel_is_used_by_the_twin_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "LONGEST", 3)
    calls: list[dict[str, Any]] = []
    kernel = F.scaled_dot_product_attention

    def counted(*tensors: torch.Tensor, **options: Any) -> torch.Tensor:
        calls.append(options)
        return kernel(*tensors, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", counted)
    model, src, tgt = tiny_model(), sources(5), targets(4)
    twin = training_twin(model, fused=True)
    model(src, tgt)
    assert not calls
    twin(src, tgt)
    assert len(calls) == 2 + 2 * 3
    twin(sources(2), targets(3))
    assert len(calls) == 2 + 2 * 3, "two words and <eos> are as few keys as said above"


SHAPES = [(1, 1, 1, 1, 2), (2, 3, 5, 7, 4), (3, 2, 4, 16, 8)]  # batch, head, query, key, d_head


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_over_short_sequences_is_that_of_the_kernel(shape: tuple[int, ...], masked: bool) -> None:
    batch, head, query, key, d_head = shape
    draw = torch.Generator().manual_seed(5)

    def one(length: int) -> torch.Tensor:  # as split_heads gives it: not contiguous
        x = torch.randn(batch, length, head * d_head, dtype=torch.float64, generator=draw)
        return x.view(batch, length, head, d_head).transpose(1, 2).requires_grad_()

    inputs = one(query), one(key), one(key)
    mask = None
    if masked:
        open_cells = torch.rand(batch, 1, query, key, generator=draw) < 0.6
        open_cells[..., 0] = True
        mask = additive(open_cells, torch.float64)
    expected = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    torch.testing.assert_close(short_attention(*inputs, mask), expected, rtol=0, atol=1e-12)
    assert torch.autograd.gradcheck(lambda q, k, v: short_attention(q, k, v, mask), inputs)
    if masked:
        torch.testing.assert_close(F.scaled_dot_product_attention(*inputs, attn_mask=open_cells), expected)
    large = torch.tensor([100.0, -100.0]).view(1, 1, 2, 1)  # scores of up to 10⁴, and exp(10⁴) is no number of float32
    assert short_attention(large, large, torch.tensor([1.0, 2.0]).view(1, 1, 2, 1), None).flatten().tolist() == [1, 2]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_without_a_mask_the_decoder_is_causal(variant: dict[str, Any]) -> None:
    """As on CUDA, where the kernel is told so instead; sources without padding need no mask either."""
    if variant.get("causal") is False:
        pytest.skip("every row sees all of them")
    twin = training_twin(tiny_model(**variant), fused=True)
    src, tgt = sources(7), targets(6)
    if twin.config.has_encoder:
        memory = twin.encoder(twin.embed(src, side="src"), mask=None)
    else:
        memory, tgt, src = None, twin.joined(src, tgt), src[:, :0]
    x, cross_kv = twin.embed(tgt, side="tgt"), twin.decoder.project_memory(memory)
    hidden, _ = twin.decoder(x, cross_kv, self_mask=None, cross_mask=None)
    torch.testing.assert_close(twin.logits(hidden), twin(src, tgt), rtol=0, atol=1e-5)


@pytest.mark.usefixtures("way")
def test_attention_dropout_happens_in_training_only() -> None:
    twin = training_twin(tiny_model(attention_dropout=0.5), fused=True)
    src, tgt = sources(5), targets(4)
    assert torch.equal(twin(src, tgt), twin(src, tgt))
    twin.train()
    assert not torch.equal(twin(src, tgt), twin(src, tgt))


@pytest.mark.usefixtures("way")
def test_rows_that_see_nothing_have_finite_gradients() -> None:
    model = tiny_model().train()
    src = torch.full((1, 3), PAD)
    training_twin(model, fused=True)(src, targets(4)).square().sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())


def test_taps_and_lstms_are_refused() -> None:
    with pytest.raises(ValueError, match="explicit model"):
        training_twin(tiny_model(), fused=True)(sources(3), targets(2), tap=AttentionRecorder())
    with pytest.raises(ValueError, match="Transformer"):
        TrainingLoss(tiny_lstm(), smoothing=0.1, fused=True)
