"""The example notebook runs from top to bottom, and every picture in it shows what the models computed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.explorer.files.unpacked import decoding_of, header_of, weights_of
from tests.paths import ROOT

NOTEBOOK = ROOT / "explorer" / "files" / "example.ipynb"

# A kernel in short: cells share their names, and the value of a last expression is what a cell shows.
KERNEL = """
import ast, json, pathlib, sys
names = {"__name__": "__main__"}
for number, text in enumerate(json.loads(sys.stdin.read())):
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names) if last else None
    if value is not None:
        pathlib.Path(sys.argv[1], f"{number}.html").write_text(value.html, encoding="utf-8")
        pathlib.Path(sys.argv[1], f"{number}.frame").write_text(value._repr_html_(), encoding="utf-8")
marian, out = names["generated"], names["out"]
pairs = {"cross": out.cross_attentions, "decoder": out.decoder_attentions}
print(json.dumps({kind: [[layer[0].tolist() for layer in step] for step in steps] for kind, steps in pairs.items()}))
"""


def cells() -> list[dict[str, Any]]:
    """The notebook's cells; it is stored without results."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    for cell in notebook["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    return notebook["cells"]


def test_it_runs(tmp_path: Path) -> None:
    texts = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]
    ran = subprocess.run(
        [sys.executable, "-c", KERNEL, str(tmp_path)],
        input=json.dumps(texts), capture_output=True, text=True, cwd=NOTEBOOK.parent, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    pages = [path.read_text(encoding="utf-8") for path in sorted(tmp_path.glob("*.html"))]
    assert len(pages) == len(list(tmp_path.glob("*.frame"))) == 4
    arrays, bert, marian, ours = map(header_of, pages)
    assert [one["views"] for one in (arrays, bert)] == [["heads"], ["heads"]]
    assert [one["views"] for one in (marian, ours)] == [["steps", "heads"]] * 2
    assert weights_of(pages[1])["encoder"].shape == (3, 4, 6, 6)
    assert decoding_of(pages[3])["target"]["predicted"] == [*"noitnetta", "<eos>"]
    # The steps of generating, which grow by a row and a key each, arrive as they were.
    steps, got = json.loads(ran.stdout.splitlines()[-1]), weights_of(pages[2])
    for kind in ("cross", "decoder"):
        for row, step in enumerate(steps[kind]):
            expected = np.array(step, np.float32)[:, :, 0]  # [layer, head, key]
            np.testing.assert_array_equal(got[kind][:, :, row, : expected.shape[-1]], expected)
    target = decoding_of(pages[2])["target"]
    assert len(target["tokens"]) == len(steps["cross"]) == len(target["predicted"])
    assert target["tokens"][1:] == target["predicted"][:-1]
