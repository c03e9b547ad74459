"""Use oneDNN for float32 matmuls on a CPU, which is faster than MKL on some processors.

PyTorch uses MKL for float32 matmuls, which does not use AVX-512 on processors other than Intel's. oneDNN does, but
PyTorch calls it only if the operands may be rounded to bf16. oneDNN rounds them only on processors with AMX. So each
process allows rounding only if a trial shows that oneDNN does not round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@cache
def onednn_keeps_float32() -> bool:
    """Whether this CPU has AVX-512 and oneDNN does not round float32 operands although it is allowed to."""
    if not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    if not hasattr(torch.cpu, "get_capabilities") or not hasattr(torch.backends.mkldnn, "matmul"):
        return False  # an older PyTorch, without this permission
    capabilities = torch.cpu.get_capabilities()
    if any(bool(has) for name, has in capabilities.items() if "amx" in name):
        return False
    return not any(_rounds(batch) for batch in (0, 3))


def _rounds(batch: int) -> bool:
    """Whether a matmul, or `batch` matmuls at once, rounds its operands when allowed to."""
    number = 1 + 2.0**-12  # not a bf16 number
    batch_shape = (batch,) if batch else ()
    a, b = torch.full((*batch_shape, 96, 64), number), torch.ones(*batch_shape, 64, 80)
    with _rounding_allowed():
        return not torch.equal(a @ b, torch.full((*batch_shape, 96, 80), 64 * number))


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
    """Use the fastest library for float32 matmuls on the CPU that does not round their operands."""
    if not onednn_keeps_float32():
        yield
        return
    with _rounding_allowed():
        yield
