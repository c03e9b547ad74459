"""What is faster in training, each beside its reference: fused attention, products in bf16, and dropout."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.config import PAD
from model.fast import training as fused
from model.fast.bf16 import Bf16Linear
from model.fast.dropout import dropout, keep_factors
from model.fast.short_attention import short_attention
from model.fast.training import FusedAttention, additive, training_twin
from model.recording import AttentionRecorder
from model.training.consistency import draw_cutoff
from model.training.corpus import real_labels
from model.training.loss import TrainingLoss
from model.training.randomness import start_stream
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


def gradients(of: nn.Linear, x: Tensor, *, rounds: bool) -> list[Tensor]:
    """The result, and the gradients of a weighted sum of it, for the input and the parameters."""
    x = x.clone().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=rounds):
        y = of(x)
    found = torch.autograd.grad((y * torch.arange(40)).sum(), [x, *of.parameters()])
    return [y.detach(), *found]


@pytest.mark.parametrize("bias", [True, False])
def test_it_multiplies_rounded_numbers(bias: bool) -> None:
    """Against float64 products of the numbers as bf16 has them: only the results are rounded once more."""
    rounded, x, plain = Bf16Linear(24, 40, bias=bias), torch.randn(2, 5, 24), nn.Linear(24, 40, bias=bias)
    plain.load_state_dict(rounded.state_dict())
    unrounded = gradients(rounded, x, rounds=False)  # without autocast, it is the linear layer itself
    assert all(map(torch.equal, unrounded, gradients(plain, x, rounds=False)))
    exact = nn.Linear(24, 40, bias=bias).double()
    exact.load_state_dict({name: tensor.bfloat16().double() for name, tensor in rounded.state_dict().items()})
    if bias:  # added in float32
        exact.bias.data = rounded.bias.data.double()
    mine = gradients(rounded, x, rounds=True)
    assert {part.dtype for part in mine} == {torch.float32}
    for ours, theirs in zip(mine, gradients(exact, x.bfloat16().double(), rounds=False), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=2**-7, atol=2**-7 * float(theirs.abs().max()))
    assert not torch.equal(mine[0], unrounded[0])


@pytest.mark.parametrize("consistency", ["", "simcut"])
def test_a_batch_in_bf16_has_nearly_the_same_loss_and_gradients(consistency: Any) -> None:
    model = tiny_model(dropout=0.0, share_embeddings="none").train()
    src, tgt = sources(7, 3), targets(6, 3)
    inputs = src, tgt, *real_labels(tgt), *([draw_cutoff(src, tgt, 0.3, 1, 2, 3)] if consistency else [])
    found = []
    for rounds in (False, True):
        model.zero_grad()
        loss = TrainingLoss(model, smoothing=0.1, fused=True, consistency=consistency or "none")
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=rounds):
            total, _ = loss(*inputs)
        total.backward()
        found.append(
            (total.item(), {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})
        )
    (exact, exact_grads), (near, near_grads) = found
    assert near != exact
    assert near == pytest.approx(exact, rel=0.01)
    whole = torch.cat([grad.flatten() for grad in exact_grads.values()])
    off = torch.cat([(near_grads[name] - grad).flatten() for name, grad in exact_grads.items()])
    assert 0 < float(off.norm() / whole.norm()) < 0.03


@pytest.mark.parametrize("shape", [(3,), (64, 7), (5, 6, 11)])
def test_quick_dropout_is_dropout(shape: tuple[int, ...]) -> None:
    start_stream(1, "dropout")
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    y = dropout(x, 0.25)
    assert set(y.unique().tolist()) <= {0.0, 1 / 0.75}
    y.sum().backward()
    assert torch.equal(x.grad, y), "what was dropped gets no gradient, the rest gets the factor"
    start_stream(1, "dropout")
    assert torch.equal(dropout(x, 0.25), y), "the same stream drops the same"
    assert dropout(x, 0.0) is x
    assert dropout(x, 0.25, training=False) is x
    assert dropout(x.bfloat16(), 0.5).dtype == torch.bfloat16
    for p in (1 - 2**-17, 1 - 2**-18, 1 - 2**-30, 1.0):  # rounded to a multiple of 2⁻¹⁶ they are 1: nothing is left
        y = dropout(x, p)
        assert not y.any()
        assert not torch.autograd.grad(y.sum(), x)[0].any()
    assert keep_factors(torch.Size([1000]), 1 - 2**-15).numel() == 1000


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_quick_dropout_drops_its_share_evenly(p: float) -> None:
    """Over 10⁶ draws, within five standard deviations, in each of the four places of a random number."""
    dropped = keep_factors(torch.Size([250_000, 4]), p) == 0
    deviation = (p * (1 - p) / 250_000) ** 0.5
    assert ((dropped.double().mean(dim=0) - p).abs() < 5 * deviation + 2**-16).all()
    pairs = (dropped[:, 0] & dropped[:, 1]).double().mean()
    assert abs(pairs - p * p) < 5 * (p * p / 250_000) ** 0.5 + 2**-15
