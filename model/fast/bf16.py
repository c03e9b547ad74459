"""Linear layers that compute their matmul in bf16 on a CPU, as autocast does on a GPU.

Autocast on a CPU would also round the small operations between the matmuls, which costs more time than the matmuls
save. Here everything between the matmuls stays in float32.
"""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn


class _LastCast:
    """Cache of one cast to bf16: queries, keys and values are projected from the same tensor."""

    def __init__(self) -> None:
        self._last: tuple[ReferenceType[Tensor], int, Tensor] | None = None

    def rows(self, x: Tensor) -> Tensor:
        """Cast a tensor [.., in] to bf16 rows [token, in]."""
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
    """x · weightᵀ + bias with matmuls in bf16, forward and backward; `rows` is x as bf16 rows."""

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
        grad_bf16 = grad.bfloat16()
        grad_x = torch.mm(grad_bf16, weight).to(grad.dtype).view(ctx.shape)
        return grad_x, None, torch.mm(grad_bf16.T, rows).to(grad.dtype), grad_bias


class Bf16Linear(nn.Linear):
    """A linear layer that uses bf16 matmuls on a CPU under bf16 autocast; otherwise the same as `nn.Linear`."""

    def forward(self, input: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        autocast = input.device.type == "cpu" and torch.is_autocast_enabled("cpu")
        if not autocast or input.dtype != torch.float32 or torch.get_autocast_dtype("cpu") != torch.bfloat16:
            return super().forward(input)
        output: Tensor = _Bf16LinearFunction.apply(input, _last_cast.rows(input), self.weight, self.bias)
        return output
