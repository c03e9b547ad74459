"""The numbers that tell heads apart at a glance: how many keys a head looks at, and its favourite relative position.

All are means over those rows of one sentence that had a choice, that is, more than one visible key: otherwise the
causal rows that see one key would make every decoder head look focused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import AttentionMaps
from explorer.decoding.entropy import effective_keys

Scores = NDArray[np.float64]
MIXED = "mixed"
PLACES = ("itself", "previous", "next", "first", "last", "diagonal", "mirror")
_CLEAR, _ABOVE_CHANCE = 0.5, 1.5  # least share of a favourite, and least multiple of chance


@dataclass(frozen=True, eq=False)
class HeadSummary:
    """Scores of all heads of one kind.

    Shapes: effective [layer, head]: exp(entropy in nats), in keys; shares, by name, each [layer, head]: the mean weight
    at one position relative to the query, 0 to 1; chance, by name: the share under uniform attention. NaN where no row
    has such a position, or a choice.
    """

    effective: Scores
    shares: dict[str, Scores]
    chance: dict[str, float]

    def role(self, layer: int, head: int) -> str:
        """The favourite relative position of a head (indices from 0), or `mixed` if none has half of the weight."""
        clear = [
            (float(share[layer, head]), name)
            for name, share in self.shares.items()
            if share[layer, head] >= max(_CLEAR, _ABOVE_CHANCE * min(self.chance[name], 0.66))
        ]
        return max(clear)[1] if clear else MIXED


def summarise(maps: AttentionMaps) -> HeadSummary:
    """Effective keys and favourite relative positions of every head.

    Positions: `itself`, `previous`, `next` and `first` for self-attention; `diagonal` (equally far along the sentence),
    `mirror` (equally far from its end), `first` and `last` for cross-attention. The last source token is <eos>.
    """
    visible = maps.mask == 0
    counts = visible.sum(axis=-1)
    choice = counts > 1
    effective = _mean(effective_keys(maps.weights), choice)
    shares, chance = {}, {}
    for name, keys in _places(maps).items():
        exists = choice & (keys >= 0) & (keys < maps.mask.shape[1])
        at = np.clip(keys, 0, maps.mask.shape[1] - 1)
        exists &= np.take_along_axis(visible, at[:, None], axis=1)[:, 0]
        weights = maps.weights[..., np.arange(len(at)), at].astype(np.float64)
        shares[name] = _mean(weights, exists)
        chance[name] = float((1 / counts[exists]).mean()) if exists.any() else float("nan")
    return HeadSummary(effective, shares, chance)


def _places(maps: AttentionMaps) -> dict[str, NDArray[np.int64]]:
    """The key at each relative position, by query; out of range if there is none."""
    n_rows, n_keys = maps.mask.shape
    rows = np.arange(n_rows)
    if maps.kind != "cross":
        places = {"itself": rows, "previous": rows - 1}
        if maps.kind == "encoder":
            places["next"] = rows + 1
        return places | {"first": np.zeros_like(rows)}
    last = max(n_rows - 1, 1)
    diagonal = np.rint(rows * (n_keys - 1) / last).astype(np.int64)
    # The last row and the last key are the ends of sentence; only what precedes them is mirrored.
    mirror = np.where(rows < n_rows - 1, np.rint((n_keys - 2) - rows * (n_keys - 2) / max(n_rows - 2, 1)), n_keys - 1)
    return {
        "diagonal": diagonal,
        "mirror": mirror.astype(np.int64),
        "first": np.zeros_like(rows),
        "last": np.full_like(rows, n_keys - 1),
    }


def _mean(values: Scores, rows: NDArray[np.bool_]) -> Scores:
    """Mean over the chosen rows of the last axis; NaN if there are none."""
    if not rows.any():
        return np.full(values.shape[:-1], np.nan)
    mean: Scores = values[..., rows].mean(axis=-1)
    return mean
