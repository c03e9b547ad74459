"""What the tests of the teaching pages read from a page: its texts, the numbers of its figures, its tables."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.explorer.sent import messages


def as_read(text: str) -> str:
    """Markdown without its escapes and without the links of terms."""
    return re.sub(r"\[([^\]]*)\]\(#term-[\w-]+\)", r"\1", text.replace("\\", ""))


def words(at: AppTest) -> str:
    """All captions, notes and paragraphs, as they are read."""
    found = [*at.caption, *at.info, *at.warning, *at.error, *at.markdown]
    return as_read(" ".join(element.value for element in found))


def assert_shows_something(at: AppTest) -> None:
    """Check that there is no error, and a figure, a table or a notice in the main part of the page."""
    assert not at.exception
    content = {"bidi_component", "dataframe", "error", "info", "plotly_chart", "vega_lite_chart", "warning"}
    assert content & {element.type for element in at.main}


def plotted(at: AppTest) -> list[dict[str, Any]]:
    """Every Plotly figure on the page as data and layout; arrays as numpy arrays."""
    return [decoded(json.loads(element.proto.spec)) for element in at.get("plotly_chart")]


def decoded(value: Any) -> Any:
    """Plotly's base64 arrays, anywhere inside, as numpy arrays."""
    if isinstance(value, dict):
        if value.keys() >= {"dtype", "bdata"}:
            numbers = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
            shape = value.get("shape")
            return numbers.reshape([int(n) for n in str(shape).split(",")]) if shape else numbers
        return {key: decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return value


def role_grids(at: AppTest) -> list[dict[str, Any]]:
    """The grids of thumbnails on the page, one for each kind of attention."""
    return [grid for header, _ in messages(at) for grid in header.get("grids", ())]


def tables(at: AppTest) -> list[pd.DataFrame]:
    """Every table on the page."""
    return [element.value for element in at.dataframe]
