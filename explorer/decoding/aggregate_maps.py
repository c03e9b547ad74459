"""The ways to put heads and layers together, each by its name in the address, with its meaning and its map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from explorer.decoding.aggregates import Floats, How, over_heads, over_layers, shares
from explorer.decoding.attention_maps import AttentionMaps
from explorer.decoding.coordinates import Place
from explorer.decoding.labelled_map import LabelledMap, labelled
from explorer.decoding.names import layer_name, name_in_kind
from model.config import AttentionKind

Needs = Literal["weights", "rollout", "head norms", "layer norms"]


@dataclass(frozen=True)
class Aggregate:
    """One way to put maps together: its name, what it means, the numbers it needs, and how it makes a map of them.

    Needed are, always [layer, …, query, key]: the weights [layer, head, …]; the rollout [layer, …] after each layer;
    norm-weighted attention of each head [layer, head, …], or of all heads of a layer together [layer, …].
    """

    name: str
    meaning: str
    needs: Needs
    build: Callable[[Floats, AttentionMaps, Place], LabelledMap]


def _over_heads(how: How) -> Callable[[Floats, AttentionMaps, Place], LabelledMap]:
    def build(weights: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
        values = over_heads(weights, how)[at.layer - 1]
        return labelled(maps, values, f"{_layer(at)}: {how} over heads", unit=f"{how} weight")

    return build


def _over_heads_and_layers(how: How) -> Callable[[Floats, AttentionMaps, Place], LabelledMap]:
    def build(weights: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
        del at
        values = over_layers(over_heads(weights, how), how)
        return labelled(maps, values, f"All layers: {how} over heads and layers", unit=f"{how} weight")

    return build


def _rollout(rollout: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
    return labelled(maps, rollout[at.layer - 1], f"Rollout after {layer_name(at.layer)}", unit="share that arrives")


def _norms_of_head(norms: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
    return labelled(maps, norms[at.index], f"{_head(at)}: ‖weight × value × W_O‖", unit="length", top=None)


def _shares_of_head(norms: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
    return labelled(maps, shares(norms[at.index]), f"{_head(at)}: norms as shares of their row", unit="share")


def _norms_of_layer(norms: Floats, maps: AttentionMaps, at: Place) -> LabelledMap:
    title = f"{_layer(at)}, all heads together: ‖Σ weight × value × W_O‖"
    return labelled(maps, norms[at.layer - 1], title, unit="length", top=None)


def _layer(at: Place) -> str:
    return layer_name(at.layer).capitalize()


def _head(at: Place) -> str:
    return name_in_kind(at.layer, at.head).capitalize()


AGGREGATES = {
    "mean-heads": Aggregate(
        "mean over heads", "Rows sum to 1. Heads that differ blur into each other.", "weights", _over_heads("mean")
    ),
    "max-heads": Aggregate(
        "maximum over heads",
        "Whether any head looks there. Rows do not sum to 1.",
        "weights",
        _over_heads("maximum"),
    ),
    "mean-all": Aggregate("mean over heads and layers", "Rows sum to 1.", "weights", _over_heads_and_layers("mean")),
    "max-all": Aggregate(
        "maximum over heads and layers", "Rows do not sum to 1.", "weights", _over_heads_and_layers("maximum")
    ),
    "rollout": Aggregate(
        "attention rollout",
        "How much of each input token would arrive if vectors were mixed by attention alone.",
        "rollout",
        _rollout,
    ),
    "norm": Aggregate(
        "norm-weighted, this head",
        "The length of the vector that each key adds, instead of the size of its weight.",
        "head norms",
        _norms_of_head,
    ),
    "norm-share": Aggregate(
        "norm-weighted as shares", "The same, each row divided by its sum.", "head norms", _shares_of_head
    ),
    "norm-layer": Aggregate(
        "norm-weighted, all heads", "Heads that write against each other cancel here.", "layer norms", _norms_of_layer
    ),
}
_DECODER_ROLLOUT: dict[AttentionKind, str] = {
    "decoder": "what arrives from target tokens; the rest of each row comes from the source (see cross-attention)",
    "cross": "what arrives from source tokens; the rest of each row comes from the target read so far (see decoder)",
}


def meaning(name: str, kind: AttentionKind) -> str:
    """What an aggregate shows, in a sentence or two, with its source if it has one."""
    text = AGGREGATES[name].meaning
    if name == "rollout" and kind != "encoder":
        text += f" Here: {_DECODER_ROLLOUT[kind]}. We extended it to decoders; it is defined for encoders."
    if name == "rollout":
        text += " (Abnar & Zuidema 2020.)"
    return f"{text} (Kobayashi et al. 2020.)" if name.startswith("norm") else text
