"""Aggregate attention: over heads, over layers, and weighted by norms.

Pure functions of recorded numbers, whose layers and heads are axes that count from 0; and a table of the aggregates,
each by its name in the address, with its meaning and its map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import AttentionMaps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import SHARE, LabelledMap, labelled
from explorer.decoding.names import title_in_kind
from explorer.locale.messages import message, t, translated

if TYPE_CHECKING:
    from model.analysis.head_details import HeadDetails

Floats = NDArray[np.float32]
How = Literal["mean", "maximum"]


def contributions(details: HeadDetails) -> list[Floats]:
    """α·f(x) of one head: what each key adds to each query's output, after W_O (Kobayashi et al. 2020, §3, eq. 5).

    f(x) = (x·W_V + b_V)·W_O with the head's slices of the matrices; in gated models, the query's gate multiplies the
    value before W_O. Summed over keys and heads, plus the bias of W_O, these vectors are the output of the attention
    sublayer.

    Shapes:
        returns: one array [key, d_model] per query; a decoder row has only the keys that it could see.
    """
    return [row.weights[:, None] * (row.gated_values @ details.projection) for row in details.rows]


def head_norms(details: HeadDetails, n_keys: int) -> Floats:
    """Norm-weighted attention ‖α f(x)‖ of one head (Kobayashi et al. 2020, §3): [query, n_keys], 0 where not seen.

    The norms have the unit of the residual stream and are no shares: rows do not sum to 1.
    """
    return _norms(contributions(details), n_keys)


def layer_norms(heads: Sequence[HeadDetails], n_keys: int) -> Floats:
    """‖Σ_h α_h f_h(x)‖ of all heads of one layer together (Kobayashi et al. 2020, §3, eq. 6): [query, n_keys].

    Heads that write in opposite directions cancel here; the sum of their single norms would not show it.
    """
    parts = [contributions(details) for details in heads]
    return _norms([np.sum(rows, axis=0) for rows in zip(*parts, strict=True)], n_keys)


def _norms(rows: Sequence[Floats], n_keys: int) -> Floats:
    norms = np.zeros((len(rows), n_keys), np.float32)
    for query, vectors in enumerate(rows):
        norms[query, : len(vectors)] = np.linalg.norm(vectors, axis=-1)
    return norms


def shares(norms: Floats) -> Floats:
    """Divide each row by its sum, so that norms can be compared with weights on the scale from 0 to 1."""
    total = norms.sum(axis=-1, keepdims=True)
    return np.divide(norms, total, out=np.zeros_like(norms), where=total > 0)


Source = Literal["head norms", "layer norms"]
AGGREGATES = {
    "mean-heads": (message("mean over heads"), message("Rows sum to 1. Heads that differ blur into each other.")),
    "max-heads": (message("maximum over heads"), message("Whether any head looks there. Rows do not sum to 1.")),
    "mean-all": (message("mean over heads and layers"), message("Rows sum to 1.")),
    "max-all": (message("maximum over heads and layers"), message("Rows do not sum to 1.")),
    "norm": (
        message("norm-weighted, this head"),
        message("The length of the vector that each key adds, instead of the size of its weight."),
    ),
    "norm-share": (message("norm-weighted as shares"), message("The same, each row divided by its sum.")),
    "norm-layer": (
        message("norm-weighted, all heads"),
        message("Heads that write in opposite directions cancel here."),
    ),
}
"""Name and meaning of each aggregate, by its name in the address."""


def aggregate(name: str, maps: AttentionMaps, at: Place, numbers: Callable[[Source], Floats]) -> LabelledMap:
    """The map of an aggregate, for the layer and head of a place.

    `numbers` computes what is not in `maps`: norm-weighted attention of each head [layer, head, query, key] or of all
    heads of a layer together [layer, query, key].

    Raises:
        NoSingleHead: the aggregate needs a single head, and the place is the mean over the heads.
    """
    head = title_in_kind(at.layer, at.head)
    if name.startswith(("mean", "max")):
        how: How = "mean" if name.startswith("mean") else "maximum"
        mean = how == "mean"
        if name.endswith("all"):
            title = (
                t("All layers: mean over heads and layers") if mean else t("All layers: maximum over heads and layers")
            )
            values = pooled(maps.weights, how, (0, 1))
        else:
            title = (
                t("Layer {layer}: mean over heads", layer=at.layer)
                if mean
                else t("Layer {layer}: maximum over heads", layer=at.layer)
            )
            values = pooled(maps.weights[at.layer - 1], how, (0,))
        return labelled(maps, values, title, unit=message("mean weight") if mean else message("maximum weight"))
    if name == "norm-layer":
        title = t("Layer {layer}, all heads together: ‖Σ weight × value × W_O‖", layer=at.layer)
        return labelled(maps, numbers("layer norms")[at.layer - 1], title, unit=message("length"), top=None)
    norms = numbers("head norms")[at.index]
    if name == "norm":
        return labelled(maps, norms, t("{head}: ‖weight × value × W_O‖", head=head), unit=message("length"), top=None)
    title = t("{head}: norms as shares of their row", head=head)
    return labelled(maps, shares(norms), title, unit=SHARE)


def pooled(weights: Floats, how: How, axes: tuple[int, ...]) -> Floats:
    """Mean or maximum over some axes; the rows of a mean still sum to 1, those of a maximum do not.

    Head h of one layer is unrelated to head h of another: layers are not pooled without their heads.
    """
    if how == "maximum":
        return weights.max(axis=axes)
    # In double precision, so that the mean of equal numbers is that number.
    return weights.mean(axis=axes, dtype=np.float64).astype(np.float32)


def meaning(name: str) -> str:
    """What an aggregate shows, in one or two sentences, with its reference if it has one."""
    _, text = AGGREGATES[name]
    sentences = [translated(text)]
    if name.startswith("norm"):
        sentences.append("(Kobayashi et al. 2020.)")
    return " ".join(sentences)
