"""The computation of one cell in sentences and tables, in the digits that a `Cell` holds."""

from __future__ import annotations

from typing import Any

from explorer.decoding.cell import Cell
from explorer.decoding.coordinates import Place
from explorer.decoding.names import numbered
from explorer.locale.text import quoted
from model.trace import AttentionTrace


def cell_caption(cell: Cell, query: str, key: str) -> str:
    """The cell in a sentence: both tokens, the score, and what the weight is made of."""
    query, key = quoted(query), quoted(key)
    if cell.masked:
        return f"{query} may not look at {key}: the cell is masked, so its weight is exactly 0."
    scale = f", divided by √d_head = {cell.divisor}," if cell.divisor != "1" else " (scores are not scaled here)"
    if cell.bias:
        scale += f" plus {cell.bias} for the distance (ALiBi),"
    n_keys = sum(not competitor.masked for competitor in cell.row)
    softmax = f"After the softmax over {n_keys} keys" if n_keys > 1 else "With no other key to see"
    sentence = (
        f"{query} and {key}: query · key = {cell.total}{scale} gives the score {cell.score}. {softmax}, the weight is "
        f"{cell.softmax}. It brings ‖weight × value‖ = {cell.norm} into a head output of length {cell.head_output}."
    )
    if cell.edited:
        sentence += f" A head edit replaced this row: the weight that was used is {cell.weight}."
    return sentence


def score_line(cell: Cell) -> str:
    """How the products become the score."""
    divided = f" ÷ √{len(cell.dimensions)} = {cell.divisor}" if cell.divisor != "1" else ", not scaled in this model,"
    distance = f", plus the bias {cell.bias} for the distance (ALiBi)," if cell.bias else ""
    return f"Sum of the products {cell.total}{divided}{distance} gives the score {cell.score}."


def softmax_line(cell: Cell) -> str:
    """How the scores of the row become its weights."""
    total = sum(float(competitor.exponential) for competitor in cell.row if not competitor.masked)
    return (
        f"Each weight is its exponential e^(score − highest score) divided by their sum, {total:.6g}. Masked keys "
        f"have no part in it: their weight is exactly 0."
    )


def output_line(cell: Cell) -> str:
    """What the weighted value adds to the head's output and to the residual stream."""
    way = "the gate and the output projection W_O" if cell.gated else "the output projection W_O"
    return (
        f"‖weight × value‖ = {cell.norm}; after {way} it adds a vector of length {cell.written} to the residual stream "
        f"(Kobayashi et al. 2020). The head's output is the sum over all keys, of length {cell.head_output}."
    )


def tokens_at(trace: AttentionTrace, place: Place) -> tuple[str, str]:
    """Query and key of a place with their positions: "2 je", "3 red". The place must have a column.

    Raises:
        IndexError: the trace has no such row or column.
    """
    queries = trace.src_tokens if place.kind == "encoder" else trace.read_tokens
    return numbered(queries)[place.row - 1], _keys(trace, place)[(place.col or 1) - 1]


def _keys(trace: AttentionTrace, place: Place) -> tuple[str, ...]:
    return numbered(trace.read_tokens if place.kind == "decoder" else trace.src_tokens)


def softmax_table(cell: Cell, trace: AttentionTrace, place: Place) -> list[dict[str, Any]]:
    """One row per key that the query could look at: score, exponential and weight; the chosen key is marked."""
    keys = _keys(trace, place)
    return [
        {
            "": "→" if competitor.key == cell.key else "",
            "key": keys[competitor.key],
            "score": competitor.score,
            "e^(score − highest)": competitor.exponential or "masked",
            "weight": competitor.weight or "masked",
        }
        for competitor in cell.row
    ]


def dimension_table(cell: Cell) -> list[dict[str, Any]]:
    """One row per dimension; numbers are strings of digits, so that none is lost on the way to the screen."""
    return [
        {
            "dimension": i,
            "query": dimension.query,
            "key": dimension.key,
            "query × key": dimension.product,
            "value": dimension.value,
            "weight × value": dimension.weighted,
            "head output": dimension.output,
        }
        for i, dimension in enumerate(cell.dimensions, start=1)
    ]
