"""Single- and multi-process training: torchrun's environment, the process group, and messages between ranks.

Control messages (stop, evaluation results) use gloo on the CPU, so that no GPU waits for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class World:
    """The rank of this process and the number of processes; `control` is the gloo group of all processes."""

    rank: int = 0
    size: int = 1
    control: Any = None

    @property
    def is_main(self) -> bool:
        """Rank 0 writes the run folder; the others only compute."""
        return self.rank == 0

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any rank; a collective call."""
        if self.size == 1:
            return flag
        votes = torch.tensor([int(flag)])
        dist.all_reduce(votes, op=dist.ReduceOp.MAX, group=self.control)
        return bool(votes.item())

    def sum(self, *values: float) -> list[float]:
        """Sums over all ranks, in float64; a collective call."""
        totals = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            dist.all_reduce(totals, group=self.control)
        return totals.tolist()

    def gather(self, value: Any) -> list[Any]:
        """The values of all ranks (small objects), in rank order, on every rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self.control)
        return values

    def share(self, value: Any) -> Any:
        """Rank 0's value (a small object) on every rank; for tensors see :meth:`share_tensors`."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, group=self.control)
        return box[0]

    def share_tensors(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Rank 0's tensors on every rank, on the CPU, sent one by one; the arguments of other ranks are ignored."""
        if self.size == 1:
            return dict(tensors)
        layout = self.share([(name, tensor.shape, tensor.dtype) for name, tensor in tensors.items()])
        shared = {}
        for name, shape, dtype in layout:
            tensor = tensors[name].cpu().contiguous() if self.is_main else torch.empty(shape, dtype=dtype)
            dist.broadcast(tensor, src=0, group=self.control)
            shared[name] = tensor
        return shared


@contextmanager
def joined_world(device: str) -> Iterator[World]:
    """Join the process group of torchrun; without torchrun, the world is this process alone.

    Gradients use NCCL on CUDA, where `device` is this process's own GPU, and gloo elsewhere.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:  # not started by torchrun or a similar launcher
        yield World()
        return
    on_cuda = device.startswith("cuda")
    if on_cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_cuda else "gloo", timeout=timedelta(minutes=30))
    try:
        # A separate group, since its messages must not mix with gradients, and a queued run may wait for days.
        control = dist.new_group(backend="gloo", timeout=timedelta(days=7))
        yield World(rank=dist.get_rank(), size=dist.get_world_size(), control=control)
    finally:
        dist.destroy_process_group()
