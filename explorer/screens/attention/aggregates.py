"""The panel of aggregates: means, maxima, rollout and norm-weighted attention, beside the raw weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from explorer.attention.aggregates import How, over_heads, over_layers, shares
from explorer.attention.attention_maps import AttentionMaps, attention_maps
from explorer.attention.coordinates import Place
from explorer.attention.labelled_map import LabelledMap, head_map, labelled
from explorer.text import plain
from explorer.translation.selection import Selection
from explorer.translation.translator import Translation
from explorer.web import head_numbers
from explorer.web.maps import draw_map
from explorer.web.panel_choices import Choices
from model.config import AttentionKind

_ABOUT = "Attention put together. Look for where an aggregate and a single head disagree: that is what averaging hides."


@dataclass(frozen=True)
class Aggregate:
    """One way to put maps together: what it is called, what it means, and how it is computed for a place."""

    name: str
    meaning: str
    build: Callable[[Translation, AttentionMaps, Place], LabelledMap]


def _over_heads(how: str) -> Callable[[Translation, AttentionMaps, Place], LabelledMap]:
    def build(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
        del shown
        values = over_heads(maps.weights, "mean" if how == "mean" else "maximum")[at.layer - 1]
        return labelled(maps, values, f"Layer {at.layer}: {how} over heads", unit=f"{how} weight")

    return build


def _over_all(how: str) -> Callable[[Translation, AttentionMaps, Place], LabelledMap]:
    def build(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
        del shown, at
        reduce: How = "mean" if how == "mean" else "maximum"
        values = over_layers(over_heads(maps.weights, reduce), reduce)
        return labelled(maps, values, f"All layers: {how} over heads and layers", unit=f"{how} weight")

    return build


def _rollout(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
    values = head_numbers.rollout(shown, maps.kind)[at.layer - 1]
    return labelled(maps, values, f"Rollout after layer {at.layer}", unit="share that arrives")


def _norm_of_head(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
    layer, head = at.index
    values = head_numbers.norms(shown, maps.kind)[0][layer, head]
    title = f"Layer {at.layer}, head {at.head}: ‖weight × value × W_O‖"
    return labelled(maps, values, title, unit="length", top=None)


def _share_of_head(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
    layer, head = at.index
    values = shares(head_numbers.norms(shown, maps.kind)[0][layer, head])
    return labelled(maps, values, f"Layer {at.layer}, head {at.head}: norms as shares of their row", unit="share")


def _norm_of_layer(shown: Translation, maps: AttentionMaps, at: Place) -> LabelledMap:
    values = head_numbers.norms(shown, maps.kind)[1][at.layer - 1]
    return labelled(
        maps, values, f"Layer {at.layer}, all heads together: ‖Σ weight × value × W_O‖", unit="length", top=None
    )


AGGREGATES = {
    "mean-heads": Aggregate(
        "mean over heads", "Rows sum to 1. Heads that differ blur into each other.", _over_heads("mean")
    ),
    "max-heads": Aggregate(
        "maximum over heads", "Whether any head looks there. Rows do not sum to 1.", _over_heads("maximum")
    ),
    "mean-all": Aggregate("mean over heads and layers", "Rows sum to 1.", _over_all("mean")),
    "max-all": Aggregate("maximum over heads and layers", "Rows do not sum to 1.", _over_all("maximum")),
    "rollout": Aggregate(
        "attention rollout", "How much of each input token arrives if vectors were mixed by attention alone.", _rollout
    ),
    "norm": Aggregate(
        "norm-weighted, this head",
        "How long the vector is that this key adds, not how large its weight is.",
        _norm_of_head,
    ),
    "norm-share": Aggregate("norm-weighted as shares", "The same, each row divided by its sum.", _share_of_head),
    "norm-layer": Aggregate(
        "norm-weighted, all heads", "Heads that write against each other cancel here.", _norm_of_layer
    ),
}
_DECODER_ROLLOUT: dict[AttentionKind, str] = {
    "decoder": "what arrives from target tokens; the rest of each row comes from the source (see cross-attention)",
    "cross": "what arrives from source tokens; the rest of each row comes from the target read so far (see decoder)",
}


def draw(selection: Selection, shown: Translation, at: Place) -> None:
    """The chosen aggregate beside the head in view."""
    del selection
    st.markdown("##### All of it at once")
    st.caption(plain(_ABOUT))
    choices = Choices("aggregates")
    choices.start("aggregates_which", "which", list(AGGREGATES), "mean-heads")
    name = st.selectbox(
        "Aggregate", list(AGGREGATES), format_func=lambda one: AGGREGATES[one].name, key="aggregates_which"
    )
    choices.keep()
    maps = attention_maps(shown.trace, at.kind)
    try:
        made = AGGREGATES[name].build(shown, maps, at)
    except ValueError as without:  # the mean over heads is in view, or the model is gone: the message says so
        st.info(plain(str(without)))
        return
    left, right = st.columns(2)
    with left:
        raw = head_map(maps, at.layer, at.head)
        draw_map(raw, key="aggregates_raw", note="The weights themselves.", away=shown.model)
    with right:
        draw_map(made, key="aggregates_made", note=meaning(name, at.kind), away=shown.model)


def meaning(name: str, kind: AttentionKind) -> str:
    """What an aggregate shows, in a sentence or two, with its source where there is one."""
    told = AGGREGATES[name].meaning
    if name == "rollout" and kind != "encoder":
        told += f" Here: {_DECODER_ROLLOUT[kind]}. Carried over to decoders by us, from the encoder's definition."
    if name == "rollout":
        told += " (Abnar & Zuidema 2020.)"
    return f"{told} (Kobayashi et al. 2020.)" if name.startswith("norm") else told
