"""Tables as CSV: read back as they were, and no cell begins a formula."""

from __future__ import annotations

import ast
import csv
import io
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.files.tables import harmless, table_csv
from tests.paths import ROOT


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_rows_and_columns_give_the_same_file() -> None:
    rows = [{"token": "a", "weight": -0.5}, {"token": "b", "weight": None}]
    columns = {"token": ["a", "b"], "weight": [-0.5, None]}
    assert table_csv(rows) == table_csv(columns)
    assert read(table_csv(rows)) == [{"token": "a", "weight": "-0.5"}, {"token": "b", "weight": ""}]
    assert read(table_csv([{"a": 1}, {"b": 2}])) == [{"a": "1", "b": ""}, {"a": "", "b": "2"}]
    assert read(table_csv([])) == []


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("https://evil.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]
)
def test_a_formula_becomes_text_and_other_text_is_unchanged(text: str) -> None:
    (row,) = read(table_csv([{text: text}]))
    assert row == {f"'{text}": f"'{text}"}
    for other in ("-0.5", "+3", "1e-07", "", "3 the", "a=b", "−0.5", "'quoted'"):
        assert harmless(other) == other


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_no_cell_begins_a_formula(cells: list[str]) -> None:
    for row in read(table_csv([{"n": 1, "cell": cell} for cell in cells])):
        assert row["n"] == "1"
        assert row["cell"].lstrip(" ")[:1] not in ("=", "@", "\t", "\r", "\n") or not row["cell"]


def test_streamlits_own_export_is_switched_off_and_every_table_is_drawn_in_one_place() -> None:
    """Finding D33: a note "=HYPERLINK(…)" left the table of runs by Streamlit's "Download as CSV"."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["disableDataExport"] is True
    drawing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("dataframe", "table")
        and isinstance(node.value, ast.Name)
        and node.value.id == "st"
    }
    assert drawing == {"explorer/web/figures.py"}
