"""The non-linearities of the feed-forward layers, by their names in the configuration."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F


def gelu_tanh(x: Tensor) -> Tensor:
    """Approximate GELU by tanh (Hendrycks and Gimpel 2016, §2), as GPT-2 and T5 do ("gelu_new").

    PyTorch's own approximation rounds in another order, which the layers of T5 v1.1 amplify to 1.6e-5 of attention.
    """
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": gelu_tanh,
    "silu": F.silu,
}
