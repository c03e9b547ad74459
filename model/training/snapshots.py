"""Snapshots of weights during training, chosen by step alone, so that a resumed run keeps the same ones."""

from __future__ import annotations

import math
from pathlib import Path

from torch import Tensor

from model.checkpoint import snapshot_path, snapshot_steps, write_weights
from model.config import TrainConfig
from model.folder import SNAPSHOTS


def how_many(config: TrainConfig, n_parameters: int) -> int:
    """The number of half-precision snapshots allowed by the configured number and space."""
    fitting = int(config.snapshot_megabytes * 1e6 // (2 * max(n_parameters, 1)))
    return min(config.snapshots, fitting)


def planned_steps(max_steps: int, count: int) -> list[int]:
    """At most `count` steps from 0 to `max_steps`, denser at the start, where heads change fastest.

    Step i of n is max_steps · (i / (n-1))², without duplicates.
    """
    if count <= 0:
        return []
    if count == 1:
        return [max_steps]
    return sorted({round(max_steps * (i / (count - 1)) ** 2) for i in range(count)})


def thinned(steps: list[int], count: int, chosen: int = 0) -> list[int]:
    """At most `count` of the steps, removing those that leave the smallest gap in √step; ends and `chosen` are kept."""
    remaining = sorted(set(steps))
    while len(remaining) > max(count, 0):
        inner = [i for i in range(1, len(remaining) - 1) if remaining[i] != chosen]
        roots = [math.sqrt(step) for step in remaining]
        remaining.pop(min(inner, key=lambda i: roots[i + 1] - roots[i - 1], default=0))
    return remaining


def keep_snapshot(folder: Path, step: int, weights: dict[str, Tensor], count: int, *, chosen: bool = False) -> None:
    """Write the weights of this step in half precision, and delete surplus ones; not this if it is `chosen`."""
    (folder / SNAPSHOTS).mkdir(exist_ok=True)
    write_weights(snapshot_path(folder, step), weights, half=True)
    steps = snapshot_steps(folder)
    for extra in set(steps) - set(thinned(steps, count, step if chosen else 0)):
        snapshot_path(folder, extra).unlink()


def forget_snapshots_after(folder: Path, step: int) -> None:
    """Delete snapshots of steps after `step`, which a resumed run will repeat."""
    for later in snapshot_steps(folder):
        if later > step:
            snapshot_path(folder, later).unlink()
