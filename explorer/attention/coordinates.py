"""Where in the attention somebody is looking: what the views report and the panels beside them go by."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import AttentionKind


class NoSingleHead(ValueError):
    """The mean over heads is in view where one head is needed; the message says what to choose."""


@dataclass(frozen=True)
class Place:
    """One kind, layer, head, row and column, all counted from 1 and all of tokens, also where words are shown.

    `head` 0 is the mean over the heads of the layer. `row` is the query; `col` the key, None while no cell is chosen.
    `step` is the decoder row in view: the same as `row`, but for encoder self-attention.
    """

    kind: AttentionKind
    layer: int
    head: int
    row: int
    col: int | None = None
    step: int = 1

    @property
    def index(self) -> tuple[int, int]:
        """(layer, head) counted from 0, as arrays are indexed.

        Raises:
            NoSingleHead: the place is the mean over heads, which is no single head.
        """
        if not self.head:
            raise NoSingleHead("The mean over heads is in view. Choose one head to see where its numbers come from.")
        return self.layer - 1, self.head - 1
