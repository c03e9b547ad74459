"""Keys and values of decoding steps, in memory that is reserved ahead and shared by states."""

from __future__ import annotations

import threading

from torch import Tensor


class KeysValues:
    """Keys and values of the tokens read so far in all decoder layers, with room for more.

    Several states may share one object. Each reads the positions before its own, and only one of them may write the
    next one: :meth:`for_position` gives the others a copy, so that old states stay valid.
    """

    def __init__(self, memory: Tensor, filled: int) -> None:
        self.memory = memory  # [layer, 2, batch · head, position, d_head]
        self.layers = memory.unbind(0)
        self._filled = filled
        self._lock = threading.Lock()

    def for_position(self, position: int) -> KeysValues:
        """Return an object with the positions before `position` in which `position` may be written."""
        room = self.memory.size(3)
        with self._lock:
            if self._filled == position < room:
                self._filled += 1
                return self
        shape = list(self.memory.shape)
        shape[3] = room if position < room else 2 * room
        memory = self.memory.new_empty(shape)
        memory[:, :, :, :position] = self.memory[:, :, :, :position]
        return KeysValues(memory, position + 1)

    def select(self, rows: Tensor, n_heads: int, position: int) -> KeysValues:
        """Return a copy of the positions before `position`, for the given rows of the batch."""
        by_row = self.memory.unflatten(2, (-1, n_heads))  # [layer, 2, batch, head, position, d_head]
        shape = [*by_row.shape[:2], len(rows), *by_row.shape[3:]]
        memory = by_row.new_empty(shape)
        memory[..., :position, :] = by_row[..., :position, :].index_select(2, rows)
        return KeysValues(memory.flatten(2, 3), position)
