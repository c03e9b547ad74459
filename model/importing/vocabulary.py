"""The order of ids: a vocabulary from elsewhere, and where each of its rows stands in ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.config import SPECIALS
from model.importing.source_folder import ImportFailed
from model.text.pieces import MAX_PIECES
from model.text.sentencepiece_file import SPACE


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary in our order: `rows[i]` is their id of our id i, and `pieces` are the spellings from id 4 on.

    Ours begin with ``<pad> <sos> <eos> <unk>``. The row of ``<sos>`` is a copy of the token that their decoder starts
    from, which for Marian is the padding token: so padding can be told apart from the start of a sentence.
    """

    rows: tuple[int, ...]
    pieces: tuple[str, ...]

    def ours(self, theirs: int) -> int:
        """Our id of their id; the copy at ``<sos>`` does not count."""
        return next(i for i, row in enumerate(self.rows) if row == theirs and i != 1)


def reorder(names: Mapping[str, Any], size: int, *, pad: int, start: int, eos: str, unk: str, file: str) -> Vocabulary:
    """The vocabulary in our order. `names` are their ids by spelling, as in `file`; `size` is the number of rows.

    A row without a name gets one that no text can contain.

    Raises:
        ImportFailed: the ids are no ids, are given twice or exceed the table, or a special token is missing.
    """
    if size > MAX_PIECES or len(names) > MAX_PIECES:
        raise ImportFailed(f"{file} has more than {MAX_PIECES} entries; it is refused.")
    spelling: dict[int, str] = {}
    for name, i in names.items():
        if type(i) is not int or not 0 <= i < size:
            raise ImportFailed(
                f"{file} gives {name!r:.40} the id {i!r:.20}, but the model has ids from 0 to {size - 1}."
            )
        if i in spelling:
            raise ImportFailed(f"{file} gives the id {i} to {spelling[i]!r:.40} and to {name!r:.40}.")
        spelling[i] = name
    for token in (eos, unk):
        if token not in names:
            raise ImportFailed(f"{file} has no {token}, so it is not the vocabulary of this model.")
    special = (pad, start, names[eos], names[unk])
    if not all(0 <= i < size for i in special):
        raise ImportFailed(f"config.json names a special token beyond the {size} rows of {file}.")
    if len({pad, names[eos], names[unk]}) < 3:
        raise ImportFailed(f"config.json uses one row of {file} for two of padding, {eos} and {unk}.")
    rest = [i for i in range(size) if i not in (pad, names[eos], names[unk])]
    pieces = tuple(_spelling(spelling.get(i), i) for i in rest)
    if len(set(pieces)) < len(pieces):
        raise ImportFailed(f"{file} spells two tokens alike once spaces are written as spaces.")
    return Vocabulary((*special, *rest), pieces)


def _spelling(name: str | None, i: int) -> str:
    """A piece as our tokenizers spell it: with a space for "▁"; never empty, and never one of our special tokens."""
    if not name:
        return f"<row {i}>"
    if name in SPECIALS:
        return f"<their {name[1:]}"
    return name.replace(SPACE, " ")
