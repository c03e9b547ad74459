"""Linear layers whose products are made from bf16 numbers on a CPU, as autocast makes them on a GPU.

Autocast on a CPU would round the small operations between the products as well, which costs more than the products
gain. Here everything between them stays in float32.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class _RoundedLinear(torch.autograd.Function):
    """x · weightᵀ + bias, with x, the weight and the gradient of the result rounded to bf16 for the products."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows = x.flatten(0, -2).bfloat16()  # [token, in]
        rounded = weight.bfloat16()
        ctx.save_for_backward(rows, rounded)
        ctx.shape, ctx.biased = x.shape, bias is not None
        product = torch.mm(rows, rounded.T).to(x.dtype)  # [token, out]
        product = product if bias is None else product.add_(bias)
        return product.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        rows, rounded = ctx.saved_tensors
        grad = grad_outputs[0].flatten(0, -2)  # [token, out]
        grad_bias = grad.sum(dim=0) if ctx.biased else None
        half = grad.bfloat16()
        grad_x = torch.mm(half, rounded).to(grad.dtype).view(ctx.shape)
        return grad_x, torch.mm(half.T, rows).to(grad.dtype), grad_bias


class RoundedLinear(nn.Linear):
    """A linear layer that rounds to bf16 on a CPU where autocast to bf16 is on; elsewhere `nn.Linear` itself."""

    def forward(self, input: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        rounds = input.device.type == "cpu" and torch.is_autocast_enabled("cpu")
        if not rounds or input.dtype != torch.float32 or torch.get_autocast_dtype("cpu") != torch.bfloat16:
            return super().forward(input)
        made: Tensor = _RoundedLinear.apply(input, self.weight, self.bias)
        return made
