"""What is sent to the browser and comes back from it, as types.

`js/structs.d.ts`, against which the JavaScript is checked, is made from these: `python -m explorer.browser.typescript`.
Layers, heads, steps, rows and columns count from 1 here; head 0 is the mean over the heads of a layer. Only lists of
array indices (`unknown`, `chosen`, spans) count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from explorer.decoding.coordinates import Place
from model.config import AttentionKind

Form = Literal["tokens", "words", "words-next"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Position:
    """A place in a decoding.

    `step` is the decoder row in view; `row` is the query, the same as `step` except in encoder self-attention; `column`
    the key, None while no cell is chosen. `view` is the view of heads with its options, as in the address.
    """

    kind: AttentionKind
    layer: int
    head: int
    step: int
    row: int
    column: int | None
    view: str

    @classmethod
    def of(cls, place: Place, view: str) -> Position:
        """A place, and the view of heads with its options, as they are sent."""
        return cls(place.kind, place.layer, place.head, place.step, place.row, place.col, view)


@dataclass(frozen=True)
class Source:
    """The source tokens; `words` has the word of each, -1 for none; `unknown` which of them the model sees as <unk>."""

    tokens: list[str]
    words: list[int]
    unknown: list[int]


@dataclass(frozen=True)
class Target:
    """The tokens that the decoder read and predicted, row by row.

    `probabilities` is None where they are not known. `chosen` lists the rows whose token is not the likeliest, and `by`
    says who took it there.
    """

    tokens: list[str]
    words: list[int]
    predicted: list[str]
    predicted_ids: list[int]
    probabilities: list[float] | None
    chosen: list[int]
    by: str


@dataclass(frozen=True)
class Alternatives:
    """The likeliest tokens of each row."""

    tokens: list[list[str]]
    ids: list[list[int]]
    probabilities: list[list[float]]


@dataclass(frozen=True)
class Heat:
    """The temperatures that bars can be drawn at, and log Σ p^(1/T) over the vocabulary [row][temperature]."""

    temperatures: list[float]
    log_sums: list[list[float]]


@dataclass(frozen=True)
class Checks:
    """Of all heads: the largest error of a row's sum, the number of masked cells that are not 0, and how many heads."""

    error: float
    leaks: int
    heads: int


@dataclass(frozen=True)
class Shape:
    """The axes of one kind of attention; all 0 where the model has none of this kind."""

    layers: int
    heads: int
    queries: int
    keys: int


@dataclass(frozen=True)
class FormOfMap:
    """One kind of attention between tokens or between words: its labels, and the scores of its heads [layer][head].

    `effective` is the effective number of keys, `shares` the share of the weight by relative position, `roles` the
    favoured position; None where no row has such a position, or a choice.
    """

    rows: list[str]
    predicted: list[str]
    columns: list[str]
    row_spans: list[Span]
    column_spans: list[Span]
    effective: list[list[float | None]]
    shares: dict[str, list[list[float | None]]]
    roles: list[list[str]]


@dataclass(frozen=True)
class DecodingHeader:
    """One decoding without its numbers."""

    model: str
    trained: bool
    edits: list[str]
    source: Source
    target: Target
    alternatives: Alternatives
    heat: Heat | None
    diagram: Any  # Diagram, in types.d.ts
    checks: Checks
    shapes: dict[AttentionKind, Shape]
    subwords: bool


@dataclass(frozen=True)
class DecodingMessage:
    """A decoding, or more of one: each message adds to what the browser holds under `seq`.

    The arrays behind it are `<kind>` [layer, head, query, key] and `<kind>.mask` [query, key].
    """

    seq: str
    decoding: DecodingHeader | None
    forms: dict[AttentionKind, dict[Form, FormOfMap]]


@dataclass(frozen=True)
class ViewMount:
    """What a view is mounted with: which decoding, and where it starts in which turn of the server's.

    `explains`: the page can explain a cell. `compact`: as few controls as possible.
    """

    seq: str
    turn: int
    start: Position
    explains: bool
    compact: bool


@dataclass(frozen=True)
class ViewReport:
    """Where a view is; `wanted` are the kinds of attention that it needs."""

    seq: str
    turn: int
    place: Position
    wanted: list[AttentionKind]


@dataclass(frozen=True)
class ForkReport:
    """The request to continue with another token: the row of the place's step is to predict `token_id`."""

    seq: str
    place: Position
    token_id: int
