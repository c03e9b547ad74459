"""The heads view's data: one kind of attention as a block of bytes, and the exact weights of single heads as another.

Both consist of the length of the header (4 bytes, unsigned, little-endian), the header (JSON in ASCII, padded with
spaces to a multiple of 4 bytes), and the numbers. The block of a kind holds all heads [layer, head, query, key], as
float32 if they are small enough, otherwise with one byte per weight, 255 · √weight (the square root keeps small weights
distinct); then the mask, one byte per cell. One byte is precise enough to choose a colour. Every number on the screen
is taken from float32, so for large models the heads in view follow in a block of their own.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import AttentionMaps
from explorer.decoding.head_summary import HeadSummary, summarise
from explorer.locale.text import printable

MOST_EXACT = 200_000  # bytes of float32 weights that are sent whole
Head = tuple[int, int]


def encode_kind(maps: AttentionMaps, *, name: str, seq: str) -> bytes:
    """All heads of one kind.

    `name` is the address in the browser, `<view's key>/<kind>`; `seq` the decoding that the block belongs to.

    Raises:
        ValueError: a weight is not a number.
    """
    exact = 4 * maps.weights.size <= MOST_EXACT
    header = kind_header(maps, name=name, seq=seq, exact=exact)
    if exact:
        body = np.ascontiguousarray(maps.weights, dtype="<f4").tobytes()
    else:
        body = np.rint(255 * np.sqrt(np.clip(maps.weights, 0, 1))).astype(np.uint8).tobytes()
    return block(header, body + np.ascontiguousarray(maps.mask, dtype=np.uint8).tobytes())


def kind_header(maps: AttentionMaps, *, name: str, seq: str, exact: bool) -> dict[str, Any]:
    """What the browser is told of one kind before its numbers; `exact` says that these are float32.

    Raises:
        ValueError: a weight is not a number.
    """
    if not np.isfinite(maps.weights).all():
        raise ValueError(f"The {maps.kind} attention holds a value that is not a number; the model is broken.")
    layers, heads, queries, keys = maps.weights.shape
    return {
        "name": name,
        "seq": seq,
        "kind": maps.kind,
        "form": maps.form,
        "exact": exact,
        "layers": layers,
        "heads": heads,
        "queries": queries,
        "keys": keys,
        "rows": [printable(token) for token in maps.rows],
        "predicted": [printable(token) for token in maps.predicted],
        "columns": [printable(token) for token in maps.columns],
        "rowSpans": maps.row_spans,
        "columnSpans": maps.column_spans,
        **_summary(summarise(maps)),
    }


def encode_numbers(maps: AttentionMaps, heads: Sequence[Head], *, name: str, seq: str) -> bytes:
    """The float32 weights of the requested heads (layer, head), counted from 1; head 0 is the mean of its layer."""
    header = {"name": name, "seq": seq, "kind": maps.kind, "form": maps.form, "given": heads}
    return block(header, b"".join(head_weights(maps, *head).astype("<f4").tobytes() for head in heads))


def head_weights(maps: AttentionMaps, layer: int, head: int) -> NDArray[np.float32]:
    """[query, key] of one head, counted from 1; head 0 is the mean over the heads of the layer, taken in float64."""
    weights = maps.weights[layer - 1]
    mean: NDArray[np.float32] = weights.mean(axis=0, dtype=np.float64).astype(np.float32)
    return weights[head - 1] if head else mean


def decode(block: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and numbers of a block, for tests."""
    (length,) = struct.unpack_from("<I", block)
    header: dict[str, Any] = json.loads(block[4 : 4 + length])
    return header, block[4 + length :]


def block(header: dict[str, Any], body: bytes) -> bytes:
    """A block: the length of the header, the header, the numbers."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + body


def _summary(summary: HeadSummary) -> dict[str, Any]:
    """Scores as JSON; null where there is none."""
    layers, heads = summary.effective.shape
    return {
        "effective": [[_number(value) for value in row] for row in summary.effective],
        "shares": {name: [[_number(v) for v in row] for row in share] for name, share in summary.shares.items()},
        "roles": [[summary.role(layer, head) for head in range(heads)] for layer in range(layers)],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.7g}")
