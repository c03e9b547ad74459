"""Float32 matmuls on a CPU by oneDNN, which is faster than MKL on some processors.

PyTorch gives float32 matmuls to MKL, which does not use the widest instructions, AVX-512, on processors that are not
Intel's. oneDNN uses them everywhere, but PyTorch calls it only if it may round the factors to bf16. oneDNN does
round them on processors with AMX; on others it multiplies the float32 numbers as they are. So each process allows it
only if a trial shows that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@cache
def onednn_keeps_float32() -> bool:
    """Whether this CPU has AVX-512, and oneDNN does not round float32 numbers here although it may."""
    if not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    capabilities = torch.cpu.get_capabilities()
    if any(bool(has) for name, has in capabilities.items() if "amx" in name):
        return False
    return not any(_rounds(batch) for batch in (0, 3))


def _rounds(batch: int) -> bool:
    """Whether a matmul, or `batch` of them at once, rounds its factors when it may."""
    fine = 1 + 2.0**-12  # which bf16 does not have
    lead = (batch,) if batch else ()
    a, b = torch.full((*lead, 96, 64), fine), torch.ones(*lead, 64, 80)
    with _rounding_allowed():
        return not torch.equal(a @ b, torch.full((*lead, 96, 80), 64 * fine))


@contextmanager
def _rounding_allowed() -> Iterator[None]:
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]  # an attribute made on access
    before = settings.fp32_precision
    settings.fp32_precision = "bf16"
    try:
        yield
    finally:
        settings.fp32_precision = before


@contextmanager
def fast_matmul() -> Iterator[None]:
    """Inside, float32 matmuls on the CPU take the fastest library that rounds no factor."""
    if not onednn_keeps_float32():
        yield
        return
    with _rounding_allowed():
        yield
