"""The example notebooks run from top to bottom, and what they show is what the models computed."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.notebook import importance, patch, probe
from explorer.probing.importance import measure_importance
from explorer.probing.measured import measure
from explorer.probing.sample import SampleChoice, SampleError, gather
from model.analysis.patching import PatchError
from model.checkpoint import load_model
from model.folder import CheckpointError
from tests.explorer.files.unpacked import decoding_of, header_of, weights_of
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS, ROOT

FOLDER = ROOT / "explorer" / "files"


def code_cells(notebook: Path) -> list[str]:
    """The code of a notebook, which is stored without results."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    return ["".join(cell["source"]) for cell in cells]


def run(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], dict[str, Any]]:
    """Run a notebook: as in a kernel, cells share their names, and the values of expressions are shown."""
    texts = code_cells(FOLDER / name)
    assert 'sys.path.insert(0, "../..")  # in a clone' in texts[0]
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names: dict[str, Any] = {"__name__": "__main__"}
    shown: list[Any] = []
    monkeypatch.setattr(sys, "displayhook", shown.append)
    for text in texts:
        exec(compile(ast.Interactive(ast.parse(text).body), "cell", "single"), names)
    return shown, names


def test_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, names = run("example.ipynb", monkeypatch)
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


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, names = run("probing.ipynb", monkeypatch)
    tables = [value for value in shown if isinstance(value, pd.DataFrame)]
    assert [len(table) for table in tables] == [24 - 8, 5, 8], "cross-attention has no token of its own"
    assert set(names["table"]["n"]) == {72}
    assert tables[2]["score"].is_monotonic_decreasing


def test_the_tables_are_what_the_page_measures() -> None:
    lines = ("I see red books\tje vois livres rouge\t0-0 1-1 2-3 3-2", "we buy big cars\tnous achetons voitures grand")
    pairs = [line.split("\t") for line in lines]
    loaded = load_model(CHECKPOINTS / "adjective-swap")
    found, own = measure(SampleChoice("own", lines, 2), loaded, quiet).probe, probe("adjective-swap", pairs)
    scores = found.kinds["encoder"].scores["previous"]
    row = own.query("kind == 'encoder' and layer == 2 and head == 3 and statistic == 'previous token'").iloc[0]
    value, low, high = scores.estimate.at(1, 2)
    assert (row["score"], row["low"], row["high"]) == pytest.approx((value, low, high), abs=1e-4)
    assert (row["baseline"], row["n"]) == (pytest.approx(scores.uniform, abs=1e-4), 2)
    assert "alignment error rate" in set(own["statistic"])
    sample, _, _ = gather(SampleChoice("own", lines, 2), loaded, quiet)
    ablation = measure_importance(loaded, sample, quiet).ablation.loss_interval["cross"]
    without = importance(loaded, pairs).query("kind == 'cross'").set_index(["layer", "head"])
    assert len(without) == 8
    assert without.loc[(2, 3), "score"] == pytest.approx(ablation.value[1, 2])
    others = [ablation.value[place] for place in np.ndindex(2, 4) if place != (1, 2)]
    assert without.loc[(2, 3), "baseline"] == pytest.approx(np.mean(others))
    alone = patch("adjective-swap", [("I see red books", "I see green books")])
    assert alone["low"].isna().all(), "one pair has no interval"
    assert set(alone["n"]) == {1}
    assert len(patch("adjective-swap", ["I see red books", "we buy big cars"])) == len(alone)


@pytest.mark.parametrize(
    ("measure_it", "error", "said"),
    [
        (lambda: probe("adjective-swap", []), SampleError, "no sentences"),
        (lambda: probe("adjective-swap", [("a", "b", "c")]), SampleError, "'c' is not an alignment such as 0-0 1-2"),
        (lambda: probe("adjective-swap", [("a", "b", "0-0", "d")]), SampleError, "A pair is a source"),
        (lambda: probe("adjective-swap", ["I"] * 1001), SampleError, "1,001 sentences; at most 1,000"),
        (lambda: probe("no-such-model", ["I"]), CheckpointError, "no-such-model"),
        (lambda: patch("adjective-swap", [("I see", "I")]), PatchError, "2 and 1 tokens"),
        (lambda: patch("adjective-swap", [("I", "I")]), PatchError, "another answer"),
        (lambda: patch("adjective-swap", [("I", "we", "they")]), PatchError, "with the changed one"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(measure_it: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        measure_it()
