"""Grid of all heads of one kind: each head's mean map as a thumbnail, with its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from explorer.decoding.names import index_name
from explorer.locale.text import listed, percent
from explorer.probing.measurement import Probe, Scores
from explorer.probing.pattern_shares import BINS, relative_map, uniform_like
from explorer.probing.roles import LETTERS, Role
from explorer.probing.tables import roles
from model.config import ATTENTION_KINDS, AttentionKind

THUMBNAILS = (
    "Each thumbnail is a head's mean map over the sample: queries from top to bottom and keys from left to right, by "
    "how far along the sentence they are. Colour begins above uniform attention. The letters and the frame show the "
    "role; a dotted frame means no clear role."
)
LENGTHS = range(8, 41)  # tokens
SCALE = 0.4  # of the weight above uniform attention: from there on, a cell has the full colour
SMALLEST = 0.1  # a cell that is named as above uniform attention
Place = tuple[int, int]  # layer and head, from 0


@lru_cache(maxsize=2)
def _uniform(*, causal: bool) -> Scores:
    """[bin, bin]: the most that uniform attention has in a cell in sentences of usual lengths.

    With a causal mask it depends on the length: the first rows, which have one key or two, fill other cells.
    """
    masks = (np.tri(n, dtype=np.bool_) if causal else np.ones((n, n), dtype=np.bool_) for n in LENGTHS)
    most: Scores = np.max([relative_map(uniform_like(seen)) for seen in masks], axis=0)
    return most


@dataclass(frozen=True, eq=False)
class RoleGrid:
    """The heads of one kind, layer × head.

    Shapes: maps [layer, head, bin, bin], see :mod:`explorer.probing.pattern_shares`. `marks` are words written on some
    thumbnails, such as the edit of the head; `chosen` are the selected heads.
    """

    kind: AttentionKind
    maps: Scores
    roles: Mapping[Place, Role]
    marks: Mapping[Place, str] = field(default_factory=dict)
    chosen: Sequence[Place] = ()

    @property
    def above_uniform(self) -> Scores:
        """[layer, head, bin, bin]: how far each cell is above uniform attention, 0 where it is not."""
        above: Scores = np.maximum(self.maps - _uniform(causal=self.kind == "decoder"), 0.0)
        return above

    def caption(self) -> str:
        """State how many heads have a role, what the letters mean, and where the largest cell is."""
        clear = [role for role in self.roles.values() if role.clear]
        letters = {part: LETTERS[part] for role in clear for part in role.name.split(" + ")}
        named = listed(f"{short} = {name}" for name, short in letters.items())
        above = self.above_uniform
        layer, head, row, column = np.unravel_index(int(above.argmax()), above.shape)
        text = f"{len(clear)} of {len(self.roles)} {self.kind} heads have a clear role{f' ({named})' if named else ''}."
        if float(above.max()) < SMALLEST:
            return f"{text} No cell is far above uniform attention."
        return (
            f"{text} The cell furthest above uniform attention (by {percent(float(above.max()))} of the weight) is in "
            f"{index_name(int(layer), int(head))}, {percent((row + 0.5) / BINS)} down and "
            f"{percent((column + 0.5) / BINS)} across."
        )


def role_grids(
    probe: Probe,
    marks: Mapping[AttentionKind, Mapping[Place, str]] | None = None,
    chosen: Mapping[AttentionKind, Sequence[Place]] | None = None,
) -> tuple[RoleGrid, ...]:
    """Make the grids of all kinds; `marks` and `chosen` by kind, see :class:`RoleGrid`."""
    head_roles, grids = roles(probe), []
    for kind in ATTENTION_KINDS:
        item = probe.kinds[kind]
        places = {
            (layer, head): head_roles[kind, layer, head] for layer, head in np.ndindex(item.n_layers, item.n_heads)
        }
        grids.append(RoleGrid(kind, item.relative, places, (marks or {}).get(kind, {}), (chosen or {}).get(kind, ())))
    return tuple(grids)
