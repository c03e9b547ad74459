"""Float32 products of matrices on a CPU by oneDNN, which computes them in less time than MKL on some processors.

PyTorch comes with both libraries and gives float32 products to MKL, which leaves the processor's widest instructions,
AVX-512, aside where the processor is not Intel's. oneDNN uses them on any, but gets the products only if it may round
their factors to bf16. It does round them where the processor has AMX; elsewhere it multiplies float32 numbers as they
are. So the permission is given where nothing comes of it but speed, which is tried out once in each process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch


@cache
def gives_float32_to_onednn() -> bool:
    """Whether this CPU has AVX-512 and oneDNN does not round float32 numbers here, though it may."""
    if not torch.backends.mkldnn.is_available() or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    capabilities = torch.cpu.get_capabilities()
    if any(bool(has) for name, has in capabilities.items() if "amx" in name):
        return False
    return not any(_rounds(batch) for batch in (0, 3))


def _rounds(batch: int) -> bool:
    """Whether a product, or `batch` of them at once, is made of rounded numbers under the permission."""
    fine = 1 + 2.0**-12  # which bf16 does not have
    lead = (batch,) if batch else ()
    a, b = torch.full((*lead, 96, 64), fine), torch.ones(*lead, 64, 80)
    with _may_round():
        return not torch.equal(a @ b, torch.full((*lead, 96, 80), 64 * fine))


@contextmanager
def _may_round() -> Iterator[None]:
    products = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]  # made when it is asked for
    before = products.fp32_precision
    products.fp32_precision = "bf16"
    try:
        yield
    finally:
        products.fp32_precision = before


@contextmanager
def quick_products() -> Iterator[None]:
    """Inside, the process's float32 products on the CPU are computed in the quickest way that rounds nothing more."""
    if not gives_float32_to_onednn():
        yield
        return
    with _may_round():
        yield
