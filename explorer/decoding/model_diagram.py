"""Describe a model as a diagram that the browser draws: its layers, its blocks, and what each block reads.

The machine on Inside draws every block, taken from the points of the model (model/points.py). Blocks and connections
therefore fit every configuration: post-norm or pre-norm, layers without residual connections, positions that are added
or not, an LSTM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.points import SCOPES

FEED_FORWARD, LSTM_CELL = "feed_forward", "lstm"


@dataclass(frozen=True)
class ModelDiagram:
    """The layers of a model and what each consists of.

    Args:
        encoder, decoder: for each layer, its sublayers in the order in which they compute: a kind of attention,
            `FEED_FORWARD` or `LSTM_CELL`.
        heads: heads per layer, by kind of attention.
        norm: "pre", "post", or "" for a model without layer norms.
        positions: how positions are encoded; "" for a model that reads in order.
    """

    encoder: tuple[tuple[str, ...], ...]
    decoder: tuple[tuple[str, ...], ...]
    heads: dict[AttentionKind, int]
    norm: str
    positions: str


def diagram_of(config: ModelConfig) -> ModelDiagram:
    """The diagram of a model with this configuration."""
    n_encoder, n_decoder = config.n_encoder_layers, config.n_decoder_layers
    if config.architecture == "lstm":
        # An LSTM has one attention, after its last decoder layer (model/lstm.py).
        last = (LSTM_CELL, "cross")
        decoder = (*([(LSTM_CELL,)] * (n_decoder - 1)), last)
        return ModelDiagram(((LSTM_CELL,),) * n_encoder, decoder, {"cross": config.n_heads("cross")}, "", "")
    kinds = [kind for kind in ATTENTION_KINDS if config.n_layers(kind)]
    return ModelDiagram(
        (("encoder", FEED_FORWARD),) * config.n_layers("encoder"),
        ((*(kind for kind in kinds if kind != "encoder"), FEED_FORWARD),) * n_decoder,
        {kind: config.n_heads(kind) for kind in kinds},
        "pre" if config.norm_first else "post",
        config.positions,
    )


MEMORY, SOFTMAX, WORD = "memory", "softmax", "word"
"""Blocks without a point of their own: the encoder's last result, the probabilities, and the word that they choose."""

ADDED = ("sinusoidal", "learned")
"""Kinds of positions that are added to the embeddings, in a block of their own."""

_KINDS: dict[tuple[str, str], AttentionKind] = {place: kind for kind, place in SCOPES.items()}


@dataclass(frozen=True)
class Block:
    """One block of the diagram.

    Args:
        name: unique in the model: the common part of the names of its points, such as `decoder.0.cross_attn`.
        kind: tokens, embedding, positions, norm, attention, add, feed_forward, lstm, initial, combine, memory, linear,
            softmax or word.
        stack: source, encoder, target, decoder or output.
        layer: counted from 1; 0 outside the layers.
        attention: the kind of attention; empty for other blocks.
        points: its points in the order of computation; the last one is its result.
        reads: the names of the blocks that it reads.
    """

    name: str
    kind: str
    stack: str
    layer: int
    attention: AttentionKind | Literal[""]
    points: tuple[str, ...]
    reads: tuple[str, ...]

    @property
    def result(self) -> str:
        """The point that the next block reads; empty for a block without points."""
        return self.points[-1] if self.points else ""


def blocks_of(config: ModelConfig) -> tuple[Block, ...]:
    """The blocks of a model with this configuration, in the order in which they compute.

    The memory follows the encoder, and the probabilities and the next word follow the logits.
    """
    from model.dry_run import points  # here, because it imports torch, which `show` in a notebook does not need

    all_points = points(config)
    block_of = {point.name: _block_name(point.name, config) for point in all_points}
    members: dict[str, list[str]] = {}
    for point in all_points:
        # A block is placed where its result is computed: cross-attention's keys are computed before the first layer.
        name = block_of[point.name]
        members[name] = [*members.pop(name, []), point.name]
    reads_of: dict[str, list[str]] = {name: [] for name in members}
    for point in all_points:
        for source in point.reads:
            if block_of[source] != block_of[point.name] and block_of[source] not in reads_of[block_of[point.name]]:
                reads_of[block_of[point.name]].append(block_of[source])
    encoder_end = next((name for name in reversed(members) if name.startswith("encoder.")), "")
    blocks: list[Block] = []
    for name, points_inside in members.items():
        kind, stack, layer, attention = _describe(name, config)
        reads = tuple(
            MEMORY if each == encoder_end and stack not in ("source", "encoder") else each for each in reads_of[name]
        )
        blocks.append(Block(name, kind, stack, layer, attention, tuple(points_inside), reads))
        if name == encoder_end:
            blocks.append(Block(MEMORY, "memory", "encoder", 0, "", (), (encoder_end,)))
    blocks.append(Block(SOFTMAX, "softmax", "output", 0, "", ("softmax",), ("logits",)))
    blocks.append(Block(WORD, "word", "output", 0, "", (), (SOFTMAX,)))
    return tuple(blocks)


def _block_name(point: str, config: ModelConfig) -> str:
    """The name of the block that a point belongs to."""
    first, *rest = point.split(".")
    if first in ("src", "tgt"):
        merged = rest[0] == "scaled" or (rest[0] == "positions" and config.positions not in ADDED)
        return f"{first}.embedding" if merged else point
    if len(rest) > 2 or (len(rest) == 2 and not rest[1].startswith(("norm", "residual"))):
        return ".".join((first, *rest[:2]))
    return point


def _describe(name: str, config: ModelConfig) -> tuple[str, str, int, AttentionKind | Literal[""]]:
    """The kind, stack, layer and kind of attention of a block with points."""
    first, *rest = name.split(".")
    if first in ("src", "tgt"):
        kind = rest[0]
        return kind, "source" if first == "src" else "target", 0, ""
    if name == "logits":
        return "linear", "output", 0, ""
    if len(rest) == 2:
        layer = int(rest[0]) + 1
        attention: AttentionKind | Literal[""] = _KINDS.get((first, rest[1]), "")
        # The attention of an LSTM follows all its layers (model/lstm.py).
        layer = layer if config.architecture != "lstm" else 0
        kind = "attention" if attention else "add" if rest[1].startswith("residual") else rest[1].rstrip("0123456789")
        return kind, first, layer, attention
    kinds = {"memory": "lstm", "states": "lstm", "initial": "initial", "combined": "combine"}
    return kinds.get(rest[0], rest[0]), first, 0, ""
