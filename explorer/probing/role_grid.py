"""Grid of all heads of one kind: each head's mean map as a thumbnail, with its role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.locale.messages import message
from explorer.probing.measured import Measured
from explorer.probing.measurement import Scores
from explorer.probing.pattern_shares import BINS, relative_map, uniform_like
from explorer.probing.roles import Role
from explorer.probing.tables import roles
from model.analysis.recorded_batches import Sample
from model.config import AttentionKind, ModelConfig
from model.trace import VISIBLE, future_mask

THUMBNAILS = message(
    "Each thumbnail is a head's mean map over the sample: queries from top to bottom and keys from left to right, by "
    "how far along the sentence they are. The stronger the colour, the further above uniform attention. The letters "
    "and the frame show the role; a dotted frame means no clear role."
)
TOP = 8.0  # times uniform attention: the end of the logarithmic colour scale
Place = tuple[int, int]  # layer and head, from 0


@dataclass(frozen=True, eq=False)
class RoleGrid:
    """The heads of one kind, layer × head.

    Shapes: maps [layer, head, bin, bin] and uniform [bin, bin], that of uniform attention: see
    :mod:`explorer.probing.pattern_shares`. `marks` are words written on some thumbnails, such as the edit of the head;
    `chosen` are the selected heads.
    """

    kind: AttentionKind
    maps: Scores
    uniform: Scores
    roles: Mapping[Place, Role]
    marks: Mapping[Place, str] = field(default_factory=dict)
    chosen: Sequence[Place] = ()

    @property
    def times_uniform(self) -> Scores:
        """[layer, head, bin, bin]: each cell as a multiple of uniform attention, 0 where no key is visible.

        A row that sees one key has no choice: it is 1, like a head that prefers nothing.
        """
        times: Scores = np.divide(self.maps, self.uniform, out=np.zeros_like(self.maps), where=self.uniform > 0)
        return times


def role_grids(
    measured: Measured,
    config: ModelConfig,
    marks: Mapping[AttentionKind, Mapping[Place, str]] | None = None,
    chosen: Mapping[AttentionKind, Sequence[Place]] | None = None,
) -> tuple[RoleGrid, ...]:
    """Make the grids of all kinds; `marks` and `chosen` by kind, see :class:`RoleGrid`."""
    probe, grids = measured.probe, []
    head_roles, uniform = roles(probe), uniform_maps(measured.sample, config)
    for kind, item in probe.kinds.items():
        places = {
            (layer, head): head_roles[kind, layer, head] for layer, head in np.ndindex(item.n_layers, item.n_heads)
        }
        grids.append(
            RoleGrid(
                kind, item.relative, uniform[kind], places, (marks or {}).get(kind, {}), (chosen or {}).get(kind, ())
            )
        )
    return tuple(grids)


def uniform_maps(sample: Sample, config: ModelConfig) -> dict[AttentionKind, Scores]:
    """The mean map of uniform attention over the sentences of a sample, by kind: [bin, bin]."""
    sums: dict[AttentionKind, Scores] = {kind: np.zeros((BINS, BINS)) for kind in config.kinds}
    pairs = ((source.ids, target) for source, target in zip(sample.sources, sample.targets, strict=True))
    given = (lambda ids: 1) if config.has_encoder else (lambda ids: len(config.prompt(ids)))
    lengths = Counter((len(ids) + 1, given(ids) + len(target)) for ids, target in pairs)
    for (source, target), count in lengths.items():
        seen = {
            "encoder": np.ones((source, source), np.bool_),
            "decoder": (future_mask(target) == VISIBLE) | (not config.causal),
            "cross": np.ones((target, source), np.bool_),
        }
        for kind in config.kinds:
            sums[kind] += count * relative_map(uniform_like(seen[kind]))
    return {kind: total / len(sample) for kind, total in sums.items()}
