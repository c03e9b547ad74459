"""Grid of all heads of one kind: each head's mean map as a thumbnail, with its role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.decoding.names import index_name
from explorer.locale.text import listed, percent
from explorer.probing.measurement import Probe, Scores
from explorer.probing.pattern_shares import BINS
from explorer.probing.roles import LETTERS, Role
from explorer.probing.tables import roles
from model.config import AttentionKind

THUMBNAILS = (
    "Each thumbnail is a head's mean map over the sample: queries from top to bottom and keys from left to right, by "
    "how far along the sentence they are. The letters and the frame show the role; a dotted frame means no clear role."
)
Place = tuple[int, int]  # layer and head, from 0


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
    def largest(self) -> float:
        """The largest cell of all maps, which is the upper end of the colour scale; 1 if all are zero."""
        return float(self.maps.max()) or 1.0

    def caption(self) -> str:
        """State how many heads have a role, what the letters mean, and where the largest cell is."""
        clear = [role for role in self.roles.values() if role.clear]
        letters = {part: LETTERS[part] for role in clear for part in role.name.split(" + ")}
        named = listed(f"{short} = {name}" for name, short in letters.items())
        layer, head, row, column = np.unravel_index(int(self.maps.argmax()), self.maps.shape)
        return (
            f"{len(clear)} of {len(self.roles)} {self.kind} heads have a clear role{f' ({named})' if named else ''}. "
            f"The largest cell ({percent(self.largest)} of the weight) is in {index_name(int(layer), int(head))}, "
            f"{percent((row + 0.5) / BINS)} down and {percent((column + 0.5) / BINS)} across."
        )


def role_grids(
    probe: Probe,
    marks: Mapping[AttentionKind, Mapping[Place, str]] | None = None,
    chosen: Mapping[AttentionKind, Sequence[Place]] | None = None,
) -> tuple[RoleGrid, ...]:
    """Make the grids of all kinds; `marks` and `chosen` by kind, see :class:`RoleGrid`."""
    head_roles, grids = roles(probe), []
    for kind, item in probe.kinds.items():
        places = {
            (layer, head): head_roles[kind, layer, head] for layer, head in np.ndindex(item.n_layers, item.n_heads)
        }
        grids.append(RoleGrid(kind, item.relative, places, (marks or {}).get(kind, {}), (chosen or {}).get(kind, ())))
    return tuple(grids)
