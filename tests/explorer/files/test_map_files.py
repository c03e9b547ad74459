"""Single maps and tables as files: their own numbers, colours and units, and no cell begins a formula."""

import csv
import dataclasses
import io
import re
import tomllib
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import single_row
from explorer.decoding.labelled_map import LabelledMap, difference, head_map, labelled
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.map_files import map_file, maps_stem, stem
from explorer.files.map_picture import levels, scale_of
from explorer.files.picture import shades
from explorer.files.tables import harmless, map_csv, table_csv
from model.config import AttentionKind
from tests.explorer.shown_maps import noisy, on_screen
from tests.paths import ROOT


def the_map(kind: AttentionKind = "decoder", layer: int = 1, head: int = 1) -> LabelledMap:
    return head_map(attention_maps(noisy(), kind), layer, head)


DIFFERENCE = cast(LabelledMap, difference(the_map(head=1), the_map(head=2), "B minus A"))


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("shown", [the_map(), the_map("cross"), DIFFERENCE], ids=["head", "cross", "difference"])
def test_csv_holds_the_numbers_and_nothing_where_masked(shown: LabelledMap) -> None:
    rows = rows_of(map_csv(shown))
    for row, value, code in zip(rows, shown.values.flat, shown.mask.flat, strict=True):
        assert (row[shown.unit], row["mask"]) == (("", "future") if code else (str(value), ""))
        assert row["map"] == shown.title
    assert [row["key"] for row in rows[: len(shown.columns)]] == list(shown.column_labels)
    cut = rows_of(map_csv(single_row(the_map("cross"), 3)))
    assert {(row["query"], row["predicts"]) for row in cut} == {("3 lis", "4 =cmd")}, "a row keeps its position"


def test_every_map_is_drawn() -> None:
    maps = attention_maps(noisy(), "encoder")
    long = labelled(maps, 7 * maps.weights[0, 0], "Layer 1: ‖weight × value × W_O‖", unit="length", top=None)
    for shown in (DIFFERENCE, long, single_row(the_map("cross"), 2)):
        content = map_file("svg", shown, "A caption </script>.").decode()
        assert "A caption &lt;/script&gt;." in content
        largest = f"{float(np.abs(shown.values[shown.mask == 0]).max()):.2f}"
        assert "+" * shown.signed + largest.lstrip("0") in re.findall(r"[+-]?\d*\.\d+", content)
    assert imread(io.BytesIO(map_file("png", DIFFERENCE, "A caption."))).std() > 0
    assert map_file("pdf", DIFFERENCE, "A caption.").startswith(b"%PDF-")


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("https://evil.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]
)
def test_a_formula_becomes_text_and_other_text_is_unchanged(text: str) -> None:
    (row,) = rows_of(table_csv([{text: text}]))
    assert row == {f"'{text}": f"'{text}"}
    for other in ("-0.5", "+3", "1e-07", "", "3 the", "a=b", "−0.5", "'quoted'"):
        assert harmless(other) == other


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_no_cell_begins_a_formula(cells: list[str]) -> None:
    for row in rows_of(table_csv([{"n": 1, "cell": cell} for cell in cells])):
        assert row["n"] == "1"
        assert row["cell"].lstrip(" ")[:1] not in ("=", "@", "\t", "\r", "\n") or not row["cell"]


def test_streamlits_own_export_is_switched_off_and_every_table_is_drawn_in_one_place() -> None:
    """Finding D33: a note "=HYPERLINK(…)" left the table of runs by Streamlit's "Download as CSV"."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["disableDataExport"] is True
    drawing = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if re.search(r"\bst\.(dataframe|table)\b", path.read_text(encoding="utf-8"))
    ]
    assert drawing == ["explorer/web/figures.py"]


def test_differences_are_blue_below_zero_and_orange_above() -> None:
    shown = dataclasses.replace(DIFFERENCE, top=1.0)
    scale = scale_of(ShownMaps(shown.title, "", (shown,), (), ("",), ViewOptions(view="head"), row=0))
    values = np.array([[-1.0, 0.0, 1.0]], np.float32)
    few = dataclasses.replace(shown, values=values, mask=np.zeros((1, 3), np.uint8))
    assert levels(few, "unit").tolist() == [[0.0, 0.5, 1.0]]
    (low, middle, high) = shades(scale, levels(few, "unit"))[0]
    assert low[2] > low[0]
    assert high[0] > high[2]
    assert max(middle) - min(middle) < 0.05


def test_names_of_files_are_plain() -> None:
    assert maps_stem(on_screen(noisy(), "head"), "my model/../x") == "my-model-..-x-attention-cross-l1-h1-head"
    assert maps_stem(on_screen(noisy(), "heads"), "") == "attention-cross"
    assert stem("my model/../x-B minus A") == "my-model-..-x-B-minus-A"


def test_rows_and_columns_give_the_same_file() -> None:
    rows = [{"token": "a", "weight": -0.5}, {"token": "b", "weight": None}]
    columns = {"token": ["a", "b"], "weight": [-0.5, None]}
    assert table_csv(rows) == table_csv(columns)
    assert rows_of(table_csv(rows)) == [{"token": "a", "weight": "-0.5"}, {"token": "b", "weight": ""}]
    assert rows_of(table_csv([{"a": 1}, {"b": 2}])) == [{"a": "1", "b": ""}, {"a": "", "b": "2"}]
    assert rows_of(table_csv([])) == []
