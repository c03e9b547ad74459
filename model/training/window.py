"""Sums of loss, tokens and time since the last log line."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.config import TrainConfig
from model.training.corpus import Update
from model.training.failure import NotFinite


class Window:
    """Sums between two log lines; losses stay on the device until they are read."""

    def __init__(self, device: torch.device) -> None:
        exact = torch.float64 if device.type == "cpu" else torch.float32
        self.loss = torch.zeros((), device=device, dtype=exact)
        self.nll = torch.zeros((), device=device, dtype=exact)
        self.norm = torch.zeros((), device=device)
        self.target_tokens = 0
        self.tokens = 0
        self.seconds = 0.0

    def add(self, loss: Tensor, nll: Tensor, norm: Tensor, update: Update) -> None:
        """Add one update: its summed loss as optimised, and the plain NLL of the same tokens."""
        self.loss += loss
        self.nll += nll
        self.norm = norm
        self.target_tokens += update.target_tokens
        self.tokens += update.tokens

    def check(self, step: int, config: TrainConfig) -> None:
        """Raise if the gradient norm is not finite; it is the same on all processes, so all of them stop."""
        if not math.isfinite(float(self.norm)):
            raise NotFinite(step, config)
