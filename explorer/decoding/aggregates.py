"""Aggregate attention: over heads, over layers, through residual connections, and weighted by norms.

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
from explorer.decoding.labelled_map import LabelledMap, labelled
from explorer.decoding.names import title_in_kind
from explorer.locale.messages import message, t, translated
from model.config import AttentionKind

if TYPE_CHECKING:
    from model.analysis.head_details import HeadDetails

Floats = NDArray[np.float32]
How = Literal["mean", "maximum"]


def encoder_rollout(weights: Floats, *, residual: bool = True) -> Floats:
    """Attention rollout after each encoder layer (Abnar & Zuidema 2020, §3, eq. 1).

    With A the mean over heads, Ã = ½A + ½I stands for a layer and its residual connection, and R_l = Ã_l · R_(l-1) with
    R_0 = I: how much of each input token arrives at each position, if vectors were mixed by attention alone.
    The method assumes that feed-forward layers, value and output projections and norms can be left out.

    Shapes:
        weights: [layer, head, src, src]; returns [layer, src, src], rows sum to 1.
    Without residual connections Ã = A. A row that attends to nothing keeps its previous mixture.
    """
    n = weights.shape[-1]
    rollout = np.eye(n)
    after_layer = []
    for attention in _mean_over_heads(weights):
        rollout = _mix(attention, residual) @ rollout
        after_layer.append(rollout)
    return _stack(after_layer, (n, n))


def decoder_rollout(decoder: Floats, cross: Floats, encoder: Floats, *, residual: bool = True) -> tuple[Floats, Floats]:
    """Rollout of a decoder with cross-attention: what arrives from the target tokens read and from source tokens.

    Abnar & Zuidema (2020) define rollout for one stack. This derivation makes the same assumption: a sublayer with its
    residual connection averages the vector at a position with what attention adds to it. A target position after
    sublayer s holds the mixture T·y + S·x of the embeddings y of the target tokens read and x of the source tokens, at
    first T = I, S = 0. With Ã = ½A + ½I of a decoder layer's self-attention, C of its cross-attention (means over
    heads) and E the encoder's last rollout (memory = E·x):

        self-attention:  T ← Ã·T,  S ← Ã·S
        cross-attention: T ← ½·T,  S ← ½·S + ½·C·E

    Rows of [T S] sum to 1 throughout: Ã does not change a sum of 1, and ½ + ½·1 = 1.

    Shapes:
        decoder: [layer, head, tgt, tgt]; cross: [layer, head, tgt, src]; encoder: [layer, head, src, src].
        returns: T [layer, tgt, tgt] and S [layer, tgt, src] after each decoder layer.
    Without residual connections Ã = A, and cross-attention replaces the vector at a position: T ← 0, S ← C·E.
    """
    n_tgt, n_src = cross.shape[-2:]
    memory = encoder_rollout(encoder, residual=residual)[-1].astype(np.float64) if len(encoder) else np.eye(n_src)
    from_target, from_source = np.eye(n_tgt), np.zeros((n_tgt, n_src))
    targets, sources = [], []
    for self_attention, cross_attention in zip(_mean_over_heads(decoder), _mean_over_heads(cross), strict=True):
        mixed = _mix(self_attention, residual)
        from_target, from_source = mixed @ from_target, mixed @ from_source
        residual_share = 1.0 if residual else 0.0
        total = residual_share + cross_attention.sum(axis=-1, keepdims=True)
        blind = total == 0  # nothing to read and no residual connection: the row stays as it was
        divisor = np.where(blind, 1.0, total)
        stays = np.where(blind, 1.0, residual_share / divisor)
        from_target = stays * from_target
        from_source = stays * from_source + (cross_attention / divisor) @ memory
        targets.append(from_target)
        sources.append(from_source)
    return _stack(targets, (n_tgt, n_tgt)), _stack(sources, (n_tgt, n_src))


def _mean_over_heads(weights: Floats) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = weights.mean(axis=1, dtype=np.float64)
    return mean


def _mix(attention: NDArray[np.float64], residual: bool) -> NDArray[np.float64]:
    """Ã of one sublayer, [query, key]; a row that attends to nothing is left as it is."""
    n = len(attention)
    blind = np.diag(attention.sum(axis=-1) == 0).astype(np.float64)
    mixed = attention + blind + (np.eye(n) if residual else 0.0)
    normal: NDArray[np.float64] = mixed / mixed.sum(axis=-1, keepdims=True)
    return normal


def _stack(layers: Sequence[NDArray[np.float64]], shape: tuple[int, int]) -> Floats:
    if not layers:
        return np.zeros((0, *shape), np.float32)
    return np.stack(layers).astype(np.float32)


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


Source = Literal["rollout", "head norms", "layer norms"]
AGGREGATES = {
    "mean-heads": (message("mean over heads"), message("Rows sum to 1. Heads that differ blur into each other.")),
    "max-heads": (message("maximum over heads"), message("Whether any head looks there. Rows do not sum to 1.")),
    "mean-all": (message("mean over heads and layers"), message("Rows sum to 1.")),
    "max-all": (message("maximum over heads and layers"), message("Rows do not sum to 1.")),
    "rollout": (
        message("attention rollout"),
        message("How much of each input token would arrive if vectors were mixed by attention alone."),
    ),
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

    `numbers` computes what is not in `maps`: the rollout [layer, query, key] after each layer, and norm-weighted
    attention of each head [layer, head, query, key] or of all heads of a layer together [layer, query, key].

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
    if name == "rollout":
        title = t("Rollout after layer {layer}", layer=at.layer)
        return labelled(maps, numbers("rollout")[at.layer - 1], title, unit=message("share that arrives"))
    if name == "norm-layer":
        title = t("Layer {layer}, all heads together: ‖Σ weight × value × W_O‖", layer=at.layer)
        return labelled(maps, numbers("layer norms")[at.layer - 1], title, unit=message("length"), top=None)
    norms = numbers("head norms")[at.index]
    if name == "norm":
        return labelled(maps, norms, t("{head}: ‖weight × value × W_O‖", head=head), unit=message("length"), top=None)
    title = t("{head}: norms as shares of their row", head=head)
    return labelled(maps, shares(norms), title, unit=message("share"))


def pooled(weights: Floats, how: How, axes: tuple[int, ...]) -> Floats:
    """Mean or maximum over some axes; the rows of a mean still sum to 1, those of a maximum do not.

    Head h of one layer is unrelated to head h of another: layers are not pooled without their heads.
    """
    if how == "maximum":
        return weights.max(axis=axes)
    # In double precision, so that the mean of equal numbers is that number.
    return weights.mean(axis=axes, dtype=np.float64).astype(np.float32)


_DECODER_ROLLOUT: dict[AttentionKind, str] = {
    "decoder": message(
        "Here: what arrives from target tokens; the rest of each row comes from the source (see cross-attention). We "
        "extended it to decoders; it is defined for encoders."
    ),
    "cross": message(
        "Here: what arrives from source tokens; the rest of each row comes from the target read so far (see decoder). "
        "We extended it to decoders; it is defined for encoders."
    ),
}


def meaning(name: str, kind: AttentionKind) -> str:
    """What an aggregate shows, in one or two sentences, with its reference if it has one."""
    _, text = AGGREGATES[name]
    sentences = [translated(text)]
    if name == "rollout" and kind != "encoder":
        sentences.append(translated(_DECODER_ROLLOUT[kind]))
    if name == "rollout":
        sentences.append("(Abnar & Zuidema 2020.)")
    if name.startswith("norm"):
        sentences.append("(Kobayashi et al. 2020.)")
    return " ".join(sentences)
