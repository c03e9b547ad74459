"""Names of kinds of attention, heads, axes, rows and columns, for titles, labels, sentences and files.

Layers and heads count from 1 here; head 0 is the mean over the heads of a layer. Only :func:`index_name` takes indices
of arrays, which count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.locale.messages import message, t, translated
from model.config import AttentionKind

KIND_NAMES: dict[AttentionKind, str] = {
    "encoder": message("encoder self-attention"),
    "decoder": message("masked decoder self-attention"),
    "cross": message("cross-attention"),
}
KIND_TITLES: dict[AttentionKind, str] = {
    "encoder": message("Encoder self-attention"),
    "decoder": message("Masked decoder self-attention"),
    "cross": message("Cross-attention"),
}
# For pages on which the mask may be lifted.
TITLES_WITHOUT_MASK: dict[AttentionKind, str] = KIND_TITLES | {"decoder": message("Decoder self-attention")}
# Titles of the axes of a map: rows are queries, columns are keys.
AXIS_TITLES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": (message("source (query)"), message("source (key)")),
    "decoder": (message("decoder reads (query)"), message("decoder reads (key)")),
    "cross": (message("decoder reads (query)"), message("source (key)")),
}
PREDICTED_ROW_TITLE = message("decoder predicts (query)")  # where the rows are named by the word that they predict


def head_title(kind: AttentionKind, layer: int, head: int) -> str:
    """A head as the title of a map: "Cross-attention, layer 1, head 2"."""
    title = translated(KIND_TITLES[kind])
    if head:
        return t("{kind}, layer {layer}, head {head}", kind=title, layer=layer, head=head)
    return t("{kind}, layer {layer}, mean over its heads", kind=title, layer=layer)


def name_in_kind(layer: int, head: int) -> str:
    """A head where the kind of attention is known: "layer 1, head 2"."""
    if head:
        return t("layer {layer}, head {head}", layer=layer, head=head)
    return t("layer {layer}, mean over its heads", layer=layer)


def title_in_kind(layer: int, head: int) -> str:
    """A head as a title where the kind of attention is known: "Layer 1, head 2"."""
    if head:
        return t("Layer {layer}, head {head}", layer=layer, head=head)
    return t("Layer {layer}, mean over its heads", layer=layer)


def short_kind(kind: AttentionKind) -> str:
    """A kind where room is short: "encoder", "decoder" or "cross"."""
    return {"encoder": t("encoder"), "decoder": t("decoder"), "cross": t("cross")}[kind]


def layer_name(layer: int) -> str:
    """A layer inside a sentence: "layer 1"."""
    return t("layer {layer}", layer=layer)


def name_in_layer(head: int) -> str:
    """A head where the layer is known: "head 2", or "mean over its heads"."""
    return t("head {head}", head=head) if head else t("mean over its heads")


def short_name(layer: int, head: int) -> str:
    """A head where room is short: "L1 H2", or "L1 mean"."""
    return f"{short_layer(layer)} {short_head(head)}"


def short_layer(layer: int) -> str:
    """A layer where room is short: "L1"."""
    return t("L{layer}", layer=layer)


def short_head(head: int) -> str:
    """A head where room is short and the layer is known: "H2", or "mean"."""
    return t("H{head}", head=head) if head else t("mean")


def index_name(layer: int, head: int) -> str:
    """The short name of the head at the indices [layer, head] of an array, which count from 0: "L1 H2" for [0, 1]."""
    return short_name(layer + 1, head + 1)


def numbered(tokens: Sequence[str], *, first: int = 1) -> tuple[str, ...]:
    """Tokens prefixed with their positions, so that repeated ones stay apart: "1 the", "2 cat", "3 the"."""
    return tuple(f"{position} {token}" for position, token in enumerate(tokens, start=first))
