"""What a reader sees in a lesson or on the page that a step opens: numbers and words read from the rendered elements.

The views of attention and the stepper are drawn by the browser from blocks of bytes; they are read as the browser reads
them. Everything else is read from texts, tables and charts of the page.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from tests.explorer.sent import decoding, decodings
from tests.pages.page import as_read, maps, table_with, visit, words

Floats = NDArray[np.float64]


class Screen:
    """One visitor's page; `open` follows the way that a step points out."""

    def __init__(self, at: AppTest) -> None:
        self.at = at

    def open(self, page: str, **query: str) -> Screen:
        """Another page in the same visit, at an address."""
        self.at.query_params.clear()
        visit(page, self.at, **query)
        return self

    @property
    def said(self) -> str:
        """All texts of the page and its sidebar."""
        return words(self.at)

    @property
    def facts(self) -> str:
        """The facts of the model in the sidebar."""
        return as_read(" ".join(caption.value for caption in self.at.sidebar.caption))

    def number(self, pattern: str, text: str = "") -> str:
        """The number in a text that is found by a pattern with one group."""
        found = re.search(pattern, text or self.said)
        assert found, f"{pattern!r} is not on the page: {text or self.said}"
        return found[1]

    def heads(self, kind: str) -> HeadsOnScreen:
        """The views of attention, opened at a kind."""
        for header, arrays in decodings(self.at):
            if kind in arrays:
                return HeadsOnScreen(header["forms"][kind]["tokens"], arrays[kind], arrays[f"{kind}.mask"])
        raise AssertionError(f"no map of {kind} attention is on the page")

    def stepper(self) -> dict[str, Any]:
        """What the stepper draws: tokens, probabilities, the likeliest alternatives."""
        return decoding(self.at)

    def written(self) -> list[str]:
        """The tokens that the stepper shows as predicted, <eos> included."""
        found: list[str] = self.stepper()["target"]["predicted"]
        return found

    def table(self, column: str) -> pd.DataFrame:
        """The table with this column."""
        return table_with(self.at, column)

    def plots(self) -> list[Floats]:
        """The numbers of the heatmaps, in the order of the page."""
        return maps(self.at)

    def edited(self, model: str, text: str, edit: str) -> tuple[str, str]:
        """The translations before and after a change of heads, as Surgery shows them."""
        self.open("probe", model=model, text=text, probe_tab="Surgery", edit=edit)
        plain = re.sub(r":\w+-background\[|~~|\*\*|\]", "", self.said)
        return self.number(r"Before: (.*?)\s+After", plain), self.number(r"After \(edited\): (.*?) :orange", plain)


class HeadsOnScreen:
    """One kind of attention as the views draw it."""

    def __init__(self, labels: dict[str, Any], weights: Floats, mask: NDArray[np.uint8]) -> None:
        layers, heads = weights.shape[:2]
        self.header, self.weights, self.mask = {**labels, "layers": layers, "heads": heads}, weights, mask

    def row(self, layer: int, head: int, row: int) -> NDArray[np.float32]:
        """A row of the map of a head; all count from 1."""
        return self.weights[layer - 1, head - 1, row - 1]

    def looks_at(self, layer: int, head: int, row: int, rank: int = 1) -> str:
        """The label above the column with the largest weight of a row, or of a lower rank."""
        column = int(np.argsort(-self.row(layer, head, row), kind="stable")[rank - 1])
        label: str = self.header["columns"][column]
        return label
