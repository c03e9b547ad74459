"""Show how one cell of a map is computed, in words and in digits that a reader can check with a calculator."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.names import numbered
from explorer.locale.text import plural, quoted
from model.trace import AttentionTrace

if TYPE_CHECKING:
    from model.analysis.head_details import HeadDetails, RowDetails

_WEIGHT_DIGITS = (4, 5, 3)  # decimals of the weights shown, in the order in which they are tried
_DIMENSION = ("query", "key", "query × key", "value", "weight × value", "head output")
_EDITED = 1e-5  # weights further than this from the softmax of their scores come from an edit


@dataclass(frozen=True)
class Competitor:
    """One key of the row as displayed: its score, e^(score − highest score), and its weight; '' if masked."""

    key: int
    score: str
    exponential: str
    weight: str
    masked: bool


@dataclass(frozen=True)
class Cell:
    """One cell, step by step in the order of computation; positions count from 0, numbers are decimal strings.

    `dimensions` has a row for each of the d_head dimensions: its number, and the query, key, product, value, weighted
    value and head output there, under their names on screen. Strings keep every digit on the way there.

    Each number follows from the displayed numbers before it: product = query × key; total = the sum of the products;
    score = total ÷ divisor, plus the bias where there is one; exponential = e^(score − highest score);
    weight = exponential ÷ the sum of exponentials; weighted = weight × value; norm = √ of the sum of weighted². Numbers
    are rounded for display before they are used again; `reproduced` says whether this still gives the recorded float32
    weights of the whole row, to the last digit.

    `softmax` is the weight that follows from the scores; it differs from `weight` only if a head edit replaced the row.
    `head_output` is ‖Σ weight × value‖ over the whole row; `written` is ‖weight × value × W_O‖ (Kobayashi et al. 2020);
    `gated` says that a gate multiplies the value before W_O.
    """

    query: int
    key: int
    dimensions: list[dict[str, Any]]
    total: str
    divisor: str
    bias: str  # added by ALiBi for the distance; '' in models without it
    score: str
    row: tuple[Competitor, ...]
    weight: str
    softmax: str
    masked: bool
    edited: bool
    norm: str
    written: str
    head_output: str
    gated: bool
    reproduced: bool


def cell(details: HeadDetails, query: int, key: int) -> Cell:
    """Show the computation of one weight of one head, with as few digits as reproduce it.

    Raises:
        ValueError: there is no such query, or no such key was visible to it.
    """
    if not 0 <= query < len(details.rows):
        raise ValueError(f"This map has {plural(len(details.rows), 'row')}; there is no row {query + 1}.")
    row = details.rows[query]
    if not 0 <= key < len(row.weights):
        raise ValueError(
            f"Row {query + 1} can see {plural(len(row.weights), 'key')}; key {key + 1} did not exist yet when it was "
            f"computed."
        )
    candidate = None
    for weight_digits, score_extra, rest_extra in itertools.product(_WEIGHT_DIGITS, range(5), range(1, 4)):
        score_digits = weight_digits + score_extra
        candidate = _with_digits(
            details, row, query, key, _Digits(weight_digits, score_digits, score_digits + rest_extra)
        )
        if candidate.reproduced:
            break
    assert candidate is not None
    return candidate


@dataclass(frozen=True)
class _Digits:
    """The number of decimals of weights and lengths, of scores, and of everything else."""

    weight: int
    score: int
    rest: int


def _with_digits(details: HeadDetails, row: RowDetails, query: int, key: int, digits: _Digits) -> Cell:
    """Compute the cell in decimal arithmetic, rounding each number to the given decimals as on paper."""
    open_keys = [bool(is_open) for is_open in row.masked == row.scores]
    queries, keys, values, outputs = (
        _rounded_all(vector, digits.rest) for vector in (row.query, row.keys[key], row.values[key], row.output)
    )
    products = [_rounded(q * k, digits.rest) for q, k in zip(queries, keys, strict=True)]
    total = sum(products, Decimal(0))
    divisor = _rounded(Decimal(row.query.size).sqrt(), digits.rest) if details.scaled else Decimal(1)
    bias = None if row.bias is None else _rounded_all(row.bias[[key]], digits.score)[0]
    score = _rounded(total / divisor + (bias or 0), digits.score)
    scores = _rounded_all(row.scores, digits.score)
    scores[key] = score
    exponentials = _exponentials(scores, open_keys, digits.rest)
    total_exponential = sum(exponentials, Decimal(0)) or Decimal(1)
    softmax = [_rounded(exponential / total_exponential, digits.weight) for exponential in exponentials]
    recorded = _rounded_all(row.weights, digits.weight)
    edited = _is_edited(row)
    weights = recorded if edited else softmax
    weighted = [_rounded(weights[key] * value, digits.rest) for value in values]
    norm = _rounded(sum((part * part for part in weighted), Decimal(0)).sqrt(), digits.weight)
    # The displayed weight is off by at most half of its last digit, and the norm by that times the norm of the value.
    slack = 10.0**-digits.weight * (1.5 + 0.5 * float(np.linalg.norm(row.values[key])))
    return Cell(
        query=query,
        key=key,
        dimensions=[
            {"dimension": i, **dict(zip(_DIMENSION, map(_text, numbers), strict=True))}
            for i, numbers in enumerate(zip(queries, keys, products, values, weighted, outputs, strict=True), start=1)
        ],
        total=_text(total),
        divisor=_text(divisor),
        bias="" if bias is None else _text(bias),
        score=_text(score),
        row=tuple(
            Competitor(
                key=i,
                score=_text(scores[i]),
                exponential=_text(exponentials[i]) if is_open else "",
                weight=_text(weights[i]) if is_open else "",
                masked=not is_open,
            )
            for i, is_open in enumerate(open_keys)
        ),
        weight=_text(weights[key]),
        softmax=_text(softmax[key]),
        masked=not open_keys[key],
        edited=edited,
        norm=_text(norm),
        written=_length(row.weights[key] * (row.gated_values[key] @ details.projection), digits.weight),
        head_output=_length(row.output, digits.weight),
        gated=row.gate is not None,
        # The recorded score was summed in float32; the decimal one must agree with it within rounding.
        reproduced=weights == recorded
        and abs(float(score) - float(row.scores[key])) <= max(10.0**-digits.score, 4e-6 * max(1.0, abs(float(score))))
        and abs(float(norm) - float(np.linalg.norm(row.weights[key] * row.values[key]))) <= slack,
    )


def _exponentials(scores: Sequence[Decimal], open_keys: Sequence[bool], digits: int) -> list[Decimal]:
    """e^(score − highest visible score) of each key; 0 if masked."""
    visible = [score for score, is_open in zip(scores, open_keys, strict=True) if is_open]
    return [
        _rounded((score - max(visible)).exp(), digits) if is_open else Decimal(0)
        for score, is_open in zip(scores, open_keys, strict=True)
    ]


def _is_edited(row: RowDetails) -> bool:
    """Whether the weights are not the softmax of the scores, which means that an edit replaced the row."""
    open_keys = row.masked == row.scores
    if not open_keys.any():
        return bool(row.weights.any())
    exponentials = np.where(open_keys, np.exp(row.scores.astype(np.float64) - row.scores[open_keys].max()), 0.0)
    return bool(np.abs(exponentials / exponentials.sum() - row.weights).max() > _EDITED)


def _rounded(value: Decimal, digits: int) -> Decimal:
    # Enough precision for large scores, so that no digit is lost before or after the decimal point.
    with localcontext(prec=60):
        return value.quantize(Decimal(1).scaleb(-digits))


def _rounded_all(values: NDArray[np.float32], digits: int) -> list[Decimal]:
    return [_rounded(Decimal(float(value)), digits) for value in values]


def _length(vector: NDArray[np.float32], digits: int) -> str:
    return _text(_rounded(Decimal(float(np.linalg.norm(vector))), digits))


def _text(value: Decimal) -> str:
    """The digits to display; a number that rounds to 0 has no sign."""
    return f"{abs(value) if value == 0 else value:f}"


def cell_caption(cell: Cell, query: str, key: str) -> str:
    """Describe a cell in sentences: both tokens, the score, the weight, and the length of what it adds."""
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


def softmax_line(cell: Cell) -> str:
    """Explain how the scores of the row become its weights, in a sentence."""
    total = sum(float(competitor.exponential) for competitor in cell.row if not competitor.masked)
    return (
        f"Each weight is its exponential e^(score − highest score) divided by the sum of all of them, {total:.6g}. "
        f"Masked keys are left out: their weight is exactly 0."
    )


def output_line(cell: Cell) -> str:
    """State what the weighted value adds to the head's output and to the residual stream."""
    projection = "the gate and the output projection W_O" if cell.gated else "the output projection W_O"
    return (
        f"‖weight × value‖ = {cell.norm}; after {projection} it adds a vector of length {cell.written} to the residual "
        f"stream (Kobayashi et al. 2020). The head's output is the sum over all keys, of length {cell.head_output}."
    )


def tokens_at(trace: AttentionTrace, place: Place) -> tuple[str, str]:
    """Query and key of a place with their positions: "2 je", "3 red". The place must have a column.

    Raises:
        IndexError: the trace has no such row or column.
    """
    rows, columns = trace.tokens(place.kind)
    return numbered(rows)[place.row - 1], numbered(columns)[(place.column or 1) - 1]


def softmax_table(cell: Cell, trace: AttentionTrace, place: Place) -> list[dict[str, Any]]:
    """One table row per key of the query: score, exponential and weight; the chosen key is marked."""
    keys = numbered(trace.tokens(place.kind)[1])
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
