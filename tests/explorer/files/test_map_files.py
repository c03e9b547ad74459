"""Single maps as files: aggregates and differences with their own numbers, colours and units."""

from __future__ import annotations

import csv
import dataclasses
import io
import re

import numpy as np
import pytest
from matplotlib.image import imread

from explorer.decoding.attention_maps import attention_maps
from explorer.decoding.comparison import single_row
from explorer.decoding.labelled_map import LabelledMap, difference, head_map, labelled
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.map_files import ONE_MAP, map_file, maps_stem, stem
from explorer.files.map_picture import levels, scale_of
from explorer.files.picture import shades
from explorer.files.tables import map_csv
from model.config import AttentionKind
from tests.explorer.shown_maps import noisy, on_screen


def the_map(kind: AttentionKind = "decoder", layer: int = 1, head: int = 1) -> LabelledMap:
    return head_map(attention_maps(noisy(), kind), layer, head)


DIFFERENCE = difference(the_map(head=1), the_map(head=2), "B minus A")


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


@pytest.mark.parametrize("shown", [the_map(), the_map("cross"), DIFFERENCE], ids=["head", "cross", "difference"])
def test_csv_holds_the_numbers_and_nothing_where_masked(shown: LabelledMap) -> None:
    rows = rows_of(map_csv(shown))
    for row, value, code in zip(rows, shown.values.flat, shown.mask.flat, strict=True):
        assert (row[shown.unit], row["mask"]) == (("", "future") if code else (str(value), ""))
        assert row["map"] == shown.title
    assert [row["key"] for row in rows[: len(shown.columns)]] == list(shown.column_labels)
    cut = rows_of(map_csv(single_row(the_map("cross"), 3)))
    assert {(row["query"], row["predicts"]) for row in cut} == {("3 lis", "4 =cmd")}, "a row keeps its position"


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


@pytest.mark.parametrize("kind", ONE_MAP[:3])
def test_every_map_is_drawn(kind: str) -> None:
    maps = attention_maps(noisy(), "encoder")
    long = labelled(maps, 7 * maps.weights[0, 0], "Layer 1: ‖weight × value × W_O‖", unit="length", top=None)
    for shown in (DIFFERENCE, long, single_row(the_map("cross"), 2)):
        content = map_file(kind, shown, "A caption </script>.")
        assert len(content) > 2000
        if kind == "png":
            assert imread(io.BytesIO(content)).std() > 0
        if kind == "svg":
            assert "A caption &lt;/script&gt;." in content.decode()
            largest = f"{float(np.abs(shown.values[shown.mask == 0]).max()):.2f}"
            assert "+" * shown.signed + largest.lstrip("0") in re.findall(r"[+-]?\d*\.\d+", content.decode())


def test_names_of_files_are_plain() -> None:
    assert maps_stem(on_screen(noisy(), "head"), "my model/../x") == "my-model-..-x-attention-cross-l1-h1-head"
    assert maps_stem(on_screen(noisy(), "heads"), "") == "attention-cross"
    assert stem("my model/../x-B minus A") == "my-model-..-x-B-minus-A"
