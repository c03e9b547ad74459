"""The example notebook runs from top to bottom, and every picture in it shows what the models computed."""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

import numpy as np
import pytest
import torch

from tests.explorer.files.unpacked import decoding_of, header_of, weights_of
from tests.paths import ROOT

NOTEBOOK = ROOT / "explorer" / "files" / "example.ipynb"


def cells() -> list[dict[str, Any]]:
    """The notebook's cells; it is stored without results."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    for cell in notebook["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    return notebook["cells"]


def test_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a kernel, cells share their names, and the values of expressions are shown."""
    texts = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]
    assert 'sys.path.insert(0, "../..")  # in a clone' in texts[0]
    assert NOTEBOOK.parents[2] == ROOT
    monkeypatch.chdir(NOTEBOOK.parent)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names: dict[str, Any] = {"__name__": "__main__"}
    shown: list[Any] = []
    monkeypatch.setattr(sys, "displayhook", shown.append)
    for text in texts:
        exec(compile(ast.Interactive(ast.parse(text).body), "cell", "single"), names)
    pages = [value.html for value in shown if hasattr(value, "_repr_html_") and value._repr_html_()]
    arrays, bert, marian, ours = map(header_of, pages)
    assert [one["views"] for one in (arrays, bert)] == [["heads"], ["heads"]]
    assert [one["views"] for one in (marian, ours)] == [["steps", "heads"]] * 2
    assert weights_of(pages[1])["encoder"].shape == (3, 4, 6, 6)
    assert decoding_of(pages[3])["target"]["predicted"] == [*"noitnetta", "<eos>"]
    # The steps of generating, which grow by a row and a key each, arrive as they were.
    out, got = names["out"], weights_of(pages[2])
    for kind, steps in (("cross", out.cross_attentions), ("decoder", out.decoder_attentions)):
        for row, step in enumerate(steps):
            expected = torch.cat(step)[:, :, 0].numpy()  # [layer, head, key]
            np.testing.assert_array_equal(got[kind][:, :, row, : expected.shape[-1]], expected)
    target = decoding_of(pages[2])["target"]
    assert len(target["tokens"]) == len(out.cross_attentions) == len(target["predicted"])
    assert target["tokens"][1:] == target["predicted"][:-1]
