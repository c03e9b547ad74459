"""A model as a diagram: its layers and what each consists of, taken from the configuration, for the browser to draw.

The small diagram beside the stage (js/diagram.js) draws the places of attention. The machine on Inside (js/machine.js)
draws every block, with what it reads.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from explorer.decoding.machine_blocks import Block, blocks_of
from model.config import AttentionKind, ModelConfig

FEED_FORWARD, LSTM_CELL = "feed_forward", "lstm"


@dataclass(frozen=True)
class ModelDiagram:
    """What a diagram of a model shows.

    Args:
        encoder, decoder: for each layer, its sublayers in the order in which they compute: a kind of attention,
            `FEED_FORWARD` or `LSTM_CELL`.
        heads: heads per layer, by kind of attention.
        norm: "pre", "post", or "" for a model without layer norms.
        positions: how positions are encoded; "" for a model that reads in order.
        blocks: every block and what it reads; empty where only the places of attention are drawn.
    """

    encoder: tuple[tuple[str, ...], ...]
    decoder: tuple[tuple[str, ...], ...]
    heads: dict[AttentionKind, int]
    norm: str
    positions: str
    blocks: tuple[Block, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The diagram as JSON."""
        return asdict(self)


def whole_diagram_of(config: ModelConfig) -> ModelDiagram:
    """The diagram of a model with this configuration, with all of its blocks."""
    return replace(diagram_of(config), blocks=blocks_of(config))


def diagram_of(config: ModelConfig) -> ModelDiagram:
    """The diagram of a model with this configuration."""
    n_encoder, n_decoder = config.n_encoder_layers, config.n_decoder_layers
    if config.architecture == "lstm":
        # Its attention stands once, after the last decoder layer (model/lstm.py).
        last = (LSTM_CELL, "cross")
        decoder = (*([(LSTM_CELL,)] * (n_decoder - 1)), last)
        return ModelDiagram(((LSTM_CELL,),) * n_encoder, decoder, {"cross": config.n_heads("cross")}, "", "")
    return ModelDiagram(
        (("encoder", FEED_FORWARD),) * n_encoder,
        (("decoder", "cross", FEED_FORWARD),) * n_decoder,
        {kind: config.n_heads(kind) for kind in ("encoder", "decoder", "cross")},
        "pre" if config.norm_first else "post",
        config.positions,
    )
