"""One process or many: torchrun's environment, the process group, and what ranks tell each other.

Every control message (stop, evaluation results) travels over gloo on the CPU, so that no GPU waits for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class World:
    """Which process this is among how many; `control` is the gloo group of all of them."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1
    control: Any = None

    @property
    def is_main(self) -> bool:
        """Rank 0 writes the run folder; the others only compute."""
        return self.rank == 0

    def any(self, flag: bool) -> bool:
        """Whether the flag is raised on any rank; every rank must ask."""
        if self.size == 1:
            return flag
        votes = torch.tensor([int(flag)])
        dist.all_reduce(votes, op=dist.ReduceOp.MAX, group=self.control)
        return bool(votes.item())

    def sum(self, *values: float) -> list[float]:
        """Sums over all ranks, in float64; every rank must ask."""
        totals = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            dist.all_reduce(totals, group=self.control)
        return totals.tolist()

    def gather(self, value: Any) -> list[Any]:
        """The value of each rank, in rank order, on every rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self.control)
        return values

    def share(self, value: Any) -> Any:
        """Rank 0's value, on every rank."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, group=self.control)
        return box[0]


def launched_by_torchrun() -> bool:
    """Whether torchrun (or something like it) started this process as one of several or one of one."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


@contextmanager
def joined_world(device_type: str) -> Iterator[World]:
    """Join the processes that torchrun started; alone without it.

    Gradients go over NCCL on CUDA and over gloo elsewhere.
    """
    if not launched_by_torchrun():
        yield World()
        return
    if device_type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if device_type == "cuda" else "gloo", timeout=timedelta(minutes=30))
    try:
        # A group of its own: its messages must not mix with gradients, and a queued run waits in it for days.
        control = dist.new_group(backend="gloo", timeout=timedelta(days=7))
        yield World(
            rank=dist.get_rank(),
            size=dist.get_world_size(),
            local_rank=int(os.environ.get("LOCAL_RANK", "0")),
            local_size=int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
            control=control,
        )
    finally:
        dist.destroy_process_group()
