"""Tables of a file are compared part by part, to the last row and not beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch

from model.importing.weights import Ledger


@pytest.mark.parametrize("rows", [1, 4096, 4097, 8200])
def test_tables_are_compared_to_the_last_row(rows: int, tmp_path: Path) -> None:
    table = torch.arange(2.0 * rows).view(rows, 2)
    other = table.clone()
    other[-1, 1] += 1
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors.torch.save({"table": table, "again": table.clone(), "other": other}))
    ledger = Ledger(dict.fromkeys(("table", "again", "other"), path), prefix="")
    assert ledger.same("table", "again")
    assert not ledger.same("table", "other")
