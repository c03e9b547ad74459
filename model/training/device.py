"""Device, precision, attention kernel and threads of a run, chosen once and stored with it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass
from typing import Any

import torch

from model.config import ConfigError
from model.fast.matmul import fast_matmul
from model.plurals import plural

FAST_OPERATIONS = 4_000_000_000
"""Operations per forward and backward pass above which size-specialised kernels are faster."""


@dataclass(frozen=True)
class Runtime:
    """The resolved runtime. A resumed run reuses it, because another choice would round differently.

    `precision` is fp32 or bf16 (autocast); `fused` whether training uses PyTorch's fused attention kernel. Until
    `settled`, precision may be auto and `threads` 0; see :mod:`model.training.trial`.
    """

    device: str = "cpu"
    precision: str = "auto"
    fused: bool = True
    settled: bool = False
    compile: bool = False
    threads: int = 0
    processes: int = 1
    torch_version: str = torch.__version__

    def to_dict(self) -> dict[str, Any]:
        """JSON values for config.json."""
        return asdict(self)

    @property
    def torch_device(self) -> torch.device:
        """The device as torch names it."""
        return torch.device(self.device)

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """The context of a training forward pass."""
        if self.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.torch_device.type, dtype=torch.bfloat16)

    def matmul(self, operations: int) -> contextlib.AbstractContextManager[Any]:
        """The context of a training pass of so many operations, forward and backward, in which matmuls are fast.

        Smaller passes, and what bf16 leaves in float32, gain less than the preparation for each matmul's size costs.
        """
        on_cpu = self.torch_device.type == "cpu" and self.precision != "bf16"
        return fast_matmul() if on_cpu and operations >= FAST_OPERATIONS else contextlib.nullcontext()


def resolve_device(wanted: str) -> str:
    """The device to use: `auto` takes CUDA, then Apple's GPU, then the CPU.

    Under torchrun, each process takes the GPU that has its number on the machine.

    Raises:
        ConfigError: no such device, or it is not available.
    """
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    if wanted == "auto":
        wanted = "cuda" if n_cuda else "mps" if has_mps else "cpu"
    kind, _, index = wanted.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (index and (kind != "cuda" or not index.isdecimal())):
        raise ConfigError(f"--device is auto, cpu, cuda, cuda:N or mps, not '{wanted}'.")
    if kind == "cuda":
        if index and int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1:
            raise ConfigError(
                f"--device {wanted} would put all processes on one GPU; --device cuda gives each its own."
            )
        number = int(index or os.environ.get("LOCAL_RANK", "0"))
        if not n_cuda:
            raise ConfigError("there is no CUDA device here (or this PyTorch was built without it); use --device cpu.")
        if number >= n_cuda:
            raise ConfigError(f"there is no device cuda:{number}; this machine has {n_cuda}, counted from cuda:0.")
        return f"cuda:{number}"
    if kind == "mps" and not has_mps:
        raise ConfigError("there is no Apple GPU (mps) here; use --device cpu.")
    return kind


def describe_device(device: str) -> str:
    """A description of the device: "NVIDIA H200, 139 GB", "CPU, 2 cores"."""
    if device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(torch.device(device))
        return f"{properties.name}, {properties.total_memory / 2**30:.0f} GB"
    return "Apple GPU" if device == "mps" else f"CPU, {plural(usable_cores(), 'core')}"


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Maximum number of CPU threads: as set by the user or torchrun, or an equal share of the cores."""
    if "OMP_NUM_THREADS" in os.environ:
        return torch.get_num_threads()
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def cpu_multiplies_bf16() -> bool:
    """Whether this CPU has instructions that multiply bf16 numbers; without them bf16 can only cost time."""
    return any(bool(has) for name, has in torch.cpu.get_capabilities().items() if "bf16" in name)
