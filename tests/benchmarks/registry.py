"""Benchmarks: a name, what it needs, and a function that yields rows: our figure, the peer's, and their ratio."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.benchmarks.lab import Lab


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

    @classmethod
    def within(cls, measure: str, ours: float, unit: str, most: float, where: str = "", **more: Any) -> Row:
        """A figure that should be `most` at most, there where the goal holds."""
        target = more.pop("target", f"≤ {most:,g} {unit} {where}".strip())
        return cls(measure, ours, unit, target=target, met=ours <= most, **more)

    @property
    def ratio(self) -> float | None:
        return self.ours / self.other if self.other else None

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


class MissingPeer(RuntimeError):
    def __init__(self, package: str) -> None:
        super().__init__(f"needs {package}: pip install -r tests/benchmarks/requirements.txt")


Measure = Callable[["Lab"], Iterable[Row]]


@dataclass(frozen=True)
class Benchmark:
    """What is measured, on how many threads of torch (all if None), and the packages of the peers."""

    measure: Measure
    threads: int | None
    peers: tuple[str, ...]

    def rows(self, *, short: bool = False) -> list[Row]:
        """Measure.

        Raises:
            MissingPeer: a peer is not installed.
        """
        from tests.benchmarks.lab import Lab

        for package in self.peers:
            if find_spec(package) is None:
                raise MissingPeer(package)
        with Lab(short=short) as lab, torch_threads(self.threads):
            return list(self.measure(lab))


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str, *, threads: int | None = None, peers: tuple[str, ...] = ()) -> Callable[[Measure], Measure]:
    """Register a function under its name on the command line."""

    def register(measure: Measure) -> Measure:
        BENCHMARKS[name] = Benchmark(measure, threads, peers)
        return measure

    return register


@contextmanager
def torch_threads(n: int | None) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def machine() -> dict[str, Any]:
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
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
