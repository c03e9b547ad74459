"""Benchmarks: a name, a function that measures, and rows of our figure, the peer's, and their ratio."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured figure.

    `ours` and `other` are in `unit`; `other` is the peer or baseline that `against` names, measured in the same run.
    `target` is the project's goal in words, and `met` whether this run reached it.
    """

    measure: str
    ours: float
    unit: str
    other: float | None = None
    against: str = ""
    target: str = ""
    met: bool | None = None
    detail: str = ""

    @property
    def ratio(self) -> float | None:
        """ours / other."""
        return self.ours / self.other if self.other else None

    def to_dict(self) -> dict[str, Any]:
        """JSON values, ratio included."""
        return {**asdict(self), "ratio": self.ratio}


class MissingPeer(RuntimeError):
    """The peer of a benchmark is not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"needs {package}: pip install -r tests/benchmarks/requirements.txt")


Measure = Callable[[], list[Row]]
BENCHMARKS: dict[str, Measure] = {}


def benchmark(name: str) -> Callable[[Measure], Measure]:
    """Register a function under its name on the command line."""

    def register(measure: Measure) -> Measure:
        BENCHMARKS[name] = measure
        return measure

    return register


@contextmanager
def torch_threads(n: int) -> Iterator[None]:
    """Run torch on `n` threads inside the block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def machine() -> dict[str, Any]:
    """The machine that the figures were measured on, and its load."""
    import torch

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
