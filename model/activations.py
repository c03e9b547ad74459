"""The non-linearities of the feed-forward layers, by their names in the configuration."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F


def gelu_tanh(x: Tensor) -> Tensor:
    """Approximate GELU by tanh (Hendrycks and Gimpel 2016, §2), as GPT-2 and T5 do ("gelu_new").

    PyTorch's own approximation rounds in another order, which the layers of T5 v1.1 amplify to 1.6e-5 of attention.
    """
    cubed = x.pow(3).mul_(0.044715)  # in place, since a step on one token takes as long as its number of new tensors
    return 0.5 * x * cubed.add_(x).mul_(math.sqrt(2 / math.pi)).tanh_().add(1)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": gelu_tanh,
    "silu": F.silu,
}
