"""Types of the messages of One cell; structs.py has those of the other views, and generates the types for JavaScript.

Layers, heads, rows and columns count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.config import AttentionKind


@dataclass(frozen=True)
class CellHeader:
    """One row of one head, from its query to the head's output, opened at the key in `column`.

    The arrays after it are `query` and `output` [d_head], `keys` and `values` [key, d_head], `scores`, `weights` and
    `mask` [key], and `bias` [key] if distances change the scores (ALiBi). A score is the product of query and key,
    divided by √d_head if `scaled`, plus the bias. `tokens` are all keys of the map; the arrays end with the last one
    that existed when the row was computed. `query` is the token of the row, and `predicted` what it predicts ("" in the
    encoder). `gated`: a gate multiplies the output before W_O. `in_view` is the head of the map above, 0 for the mean;
    `said` tells why this cell, if it was not chosen there.
    """

    kind: AttentionKind
    layer: int
    head: int
    row: int
    column: int
    query: str
    predicted: str
    tokens: list[str]
    scaled: bool
    gated: bool
    in_view: int
    said: str


@dataclass(frozen=True)
class CellMessage(CellHeader):
    """One row of one head of the decoding `seq`."""

    part: Literal["cell"]
    seq: str


@dataclass(frozen=True)
class CellReport:
    """The head and the key that the reader moved to in a row of the decoding `seq`."""

    seq: str
    kind: AttentionKind
    layer: int
    head: int
    row: int
    column: int
