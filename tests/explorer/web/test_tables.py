"""Tables as the browser is sent them: numbers are written as the language does, and remain numbers."""

from typing import Any

import pyarrow as pa
from streamlit.testing.v1 import AppTest

from explorer.web.figures import table_height


def _page(values: list[object], language: str) -> None:
    from explorer.locale.language import written_in
    from explorer.web.figures import draw_table

    with written_in(language):
        draw_table([{"of": "1.5", "n": value, "runs": 3} for value in values], "A table")


def _written(values: list[Any], language: str = "en") -> tuple[list[str], list[Any]]:
    """The column of these values as it is written, empty if the browser writes it; and what it is sorted by."""
    (table,) = AppTest.from_function(_page, args=(values, language)).run().get("dataframe")
    styled = table.proto.arrow_data.styler.display_values
    texts = pa.ipc.open_stream(styled).read_all().to_pydict() if styled else {}
    return [str(text) for text in list(texts.values())[1]] if texts else [], list(table.value["n"])


def test_numbers_of_a_column_have_equally_many_decimals_in_the_mark_of_the_language() -> None:
    values = [-0.25, 10.0, 3.1]
    assert _written(values) == (["−0.25", "10.00", "3.10"], values)
    texts, numbers = _written([*values, None], "de")
    assert texts == ["−0,25", "10,00", "3,10", ""]
    assert numbers[:3] == values, "they sort as numbers"
    assert _written([1, 2]) == ([], [1, 2]), "whole numbers need none"
    assert not _written([0.5] * 4000)[0], "a table of very many cells is left to the browser"


def test_a_table_shows_all_its_rows_or_half_of_one_more() -> None:
    assert table_height(12, 12) - table_height(11, 12) == 35
    assert table_height(13, 12) == table_height(40, 12) == table_height(12, 12) + 17
