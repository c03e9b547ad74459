"""Adam and AdamW, and their state as plain named tensors."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from model.config import TrainConfig


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Create the configured optimiser; the trainer sets its learning rate before each update.

    Weight decay does not apply to biases and norms.
    """
    matrices = [p for p in model.parameters() if p.requires_grad and p.dim() > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.dim() <= 1]
    decay = config.weight_decay if config.optimizer == "adamw" else 0.0
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(
        groups,
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        fused=next(model.parameters()).device.type in ("cpu", "cuda", "mps"),
    )


def optimizer_tensors(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """First and second moments and step counts, named "optimizer.<parameter>.<what>", on the CPU."""
    return {
        f"optimizer.{name}.{what}": tensor.detach().cpu().contiguous()
        for name, parameter in model.named_parameters()
        for what, tensor in optimizer.state.get(parameter, {}).items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Restore the optimiser state from :func:`optimizer_tensors`; a run stopped before its first update has none.

    Raises:
        KeyError: the tensors belong to another model.
    """
    if not any(name.startswith("optimizer.") for name in tensors):
        return
    for name, parameter in model.named_parameters():
        prefix = f"optimizer.{name}."
        state = {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}
        if not state:
            raise KeyError(name)
        optimizer.state[parameter] = {what: tensor.clone().to(parameter.device) for what, tensor in state.items()}
