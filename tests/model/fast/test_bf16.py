"""Linear layers in bf16 on a CPU: the products of rounded numbers, and nothing else than nn.Linear without autocast."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.fast.bf16 import Bf16Linear
from model.training.consistency import draw_cutoff
from model.training.corpus import real_labels
from model.training.loss import TrainingLoss
from tests.tiny import sources, targets, tiny_model


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
