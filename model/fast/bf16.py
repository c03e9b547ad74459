"""Linear layers that multiply in bf16 on a CPU, as autocast does on a GPU.

Autocast on a CPU would round the small operations between the matmuls as well, which costs more than the matmuls
gain. Here everything between them stays in float32.
"""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn


class _LastCast:
    """The last tensor that was cast to bf16, with its cast: queries, keys and values come from the same one."""

    def __init__(self) -> None:
        self._last: tuple[ReferenceType[Tensor], int, Tensor] | None = None

    def rows(self, x: Tensor) -> Tensor:
        """The tensor [.., in] as rows of bf16, [token, in]."""
        if torch.compiler.is_compiling():
            return x.detach().flatten(0, -2).bfloat16()
        last = self._last
        if last is not None and last[0]() is x and last[1] == x._version:
            return last[2]
        rows = x.detach().flatten(0, -2).bfloat16()
        self._last = (ref(x), x._version, rows)
        return rows


_last_cast = _LastCast()


class _Bf16LinearFunction(torch.autograd.Function):
    """x · weightᵀ + bias, with x, the weight and the gradient of the result rounded to bf16 for the matmuls.

    `rows` is x as rows of bf16.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        weight = weight.bfloat16()
        ctx.save_for_backward(rows, weight)
        ctx.shape, ctx.biased = x.shape, bias is not None
        product = torch.mm(rows, weight.T).to(x.dtype)  # [token, out]
        product = product if bias is None else product.add_(bias)
        return product.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, Tensor, Tensor | None]:
        rows, weight = ctx.saved_tensors
        grad = grad_outputs[0].flatten(0, -2)  # [token, out]
        grad_bias = grad.sum(dim=0) if ctx.biased else None
        half = grad.bfloat16()
        grad_x = torch.mm(half, weight).to(grad.dtype).view(ctx.shape)
        return grad_x, None, torch.mm(half.T, rows).to(grad.dtype), grad_bias


class Bf16Linear(nn.Linear):
    """A linear layer that rounds to bf16 on a CPU where autocast to bf16 is on; elsewhere `nn.Linear` itself."""

    def forward(self, input: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        rounds = input.device.type == "cpu" and torch.is_autocast_enabled("cpu")
        if not rounds or input.dtype != torch.float32 or torch.get_autocast_dtype("cpu") != torch.bfloat16:
            return super().forward(input)
        output: Tensor = _Bf16LinearFunction.apply(input, _last_cast.rows(input), self.weight, self.bias)
        return output
