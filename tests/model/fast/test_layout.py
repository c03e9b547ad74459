"""Matrices that are copied column after column keep their numbers, in huge pages and without them."""

import mmap

import pytest
import torch

from model.fast.layout import HUGE_PAGE, column_major


class RefusingMemory(mmap.mmap):
    """Memory of a kernel without huge pages."""

    def madvise(self, *_: int) -> None:
        raise OSError("not supported")


@pytest.mark.parametrize("memory", ["huge pages", "no such system", "refused"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_a_matrix_keeps_its_numbers(memory: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    if memory == "no such system":
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    if memory == "refused":
        monkeypatch.setattr(mmap, "mmap", RefusingMemory)
    for n_bytes in (HUGE_PAGE // 2, 3 * HUGE_PAGE):
        matrix = torch.randn(n_bytes // 128 // dtype.itemsize + 1, 128).to(dtype)
        copy = column_major(matrix)
        assert torch.equal(copy, matrix)
        assert copy.t().is_contiguous()
        matrix.zero_()
        assert copy.any(), "it is a copy"
