"""Coordinates in the attention of one sentence: kind, layer and head of a map, row and column of a cell.

Everything that people see or type counts from 1, and so does a :class:`Place`. Arrays and recorded heads count from 0;
the conversions are here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.decoding.names import head_title, numbered, short_name
from explorer.locale.messages import t
from explorer.locale.text import fixed, quoted
from model.config import AttentionKind
from model.trace import AttentionTrace
from model.user_error import UserError


class NoSingleHead(UserError):
    """The mean over the heads is in view where a single head is needed; the message says what to choose."""


@dataclass(frozen=True)
class Place:
    """One kind, layer, head, row and column, all counted from 1, and all of tokens, even where words are shown.

    `head` 0 is the mean over the heads of the layer. `row` is the query; `column` the key, None while no cell is
    chosen. `step` is the decoder row in view: the same as `row`, except in encoder self-attention.
    """

    kind: AttentionKind
    layer: int
    head: int
    row: int = 1
    column: int | None = None
    step: int = 1

    @classmethod
    def at_index(cls, kind: AttentionKind, layer: int, head: int) -> Place:
        """The head at the indices [layer, head] of an array, which count from 0."""
        return cls(kind, layer + 1, head + 1)

    @property
    def index(self) -> tuple[int, int]:
        """(layer, head) as indices of an array, from 0.

        Raises:
            NoSingleHead: the place is the mean over the heads, which is no single head.
        """
        if not self.head:
            raise NoSingleHead("The mean over heads is in view. Choose one head to see where its numbers come from.")
        return self.layer - 1, self.head - 1

    @property
    def title(self) -> str:
        """The head as the title of a map: "Cross-attention, layer 1, head 2"."""
        return head_title(self.kind, self.layer, self.head)

    @property
    def short_name(self) -> str:
        """The head where room is short: "L1 H2", or "L1 mean"."""
        return short_name(self.layer, self.head)


def strongest_cell(trace: AttentionTrace, at: Place) -> tuple[Place, str]:
    """Complete a place without a column by the largest weight of its row, then one without a single head, and say so.

    The row is that of the map in view: for a mean, that of the mean, and its cell that of the head with most weight.
    """
    if at.head and at.column is not None:
        return at, ""
    weights = trace.weights(at.kind)[at.layer - 1, :, at.row - 1]
    in_view = weights[at.head - 1] if at.head else weights.mean(axis=0)
    column = int(in_view.argmax()) if at.column is None else at.column - 1
    head = at.head - 1 if at.head else int(weights[:, column].argmax())
    found = replace(at, head=head + 1, column=column + 1)
    rows, columns = (numbered(tokens) for tokens in trace.tokens(at.kind))
    query, key = quoted(rows[at.row - 1]), quoted(columns[column])
    if at.head or (len(weights) == 1 and at.column is None):
        return found, t(
            "No cell is chosen, so this is the largest weight of head {head} in this row: {query} looks at {key}.",
            head=found.head,
            query=query,
            key=key,
        )
    if at.column is not None:
        return found, ""
    said = t(
        "No cell is chosen, so this is the largest in this row: {query} gives {key} {mean}, the mean of {n} heads.",
        query=query,
        key=key,
        n=len(weights),
        mean=fixed(float(weights[:, column].mean()), 3),
    )
    return found, said
