"""The stages that a token passes: each point of a model with its operation, and what that operation reads.

The browser follows a token through them and writes out where a number comes from (js/machine_origin.js), from numbers
that it requests by place (machine_numbers.py).
"""

from __future__ import annotations

import math
from typing import Literal

from explorer.browser.machine_structs import MachineStage, StageOperation
from explorer.decoding.model_diagram import ADDED, Block, blocks_of
from explorer.decoding.operation_names import title_of
from explorer.locale.language import cached_by_language
from explorer.locale.messages import t
from model.architectures import Model, empty_model
from model.config import ATTENTION_KINDS, ModelConfig
from model.dry_run import Point, points

ADDED_POINT = ".added"
"""Ends the names of the vectors that positions add, which are not points of a model."""
_OF_KEYS = ("k_proj", "v_proj", "key", "value")
_INPUTS = ("mask", "bias")
_LINEAR = ("q_proj", "k_proj", "v_proj", "out_proj", "linear1", "gate_proj", "linear2", "logits")
_OPERATIONS: dict[str, StageOperation] = {
    "tokens": "ids",
    "embedding": "lookup",
    "scaled": "times",
    "query": "split",
    "key": "split",
    "value": "split",
    "masked": "mask",
    "weights": "softmax",
    "output": "mix",
    "joined": "join",
    "gated": "multiply",
    **dict.fromkeys(_LINEAR, "linear"),
}
_OF_LSTM = ("tokens", "embedding", "masked", "weights", "output", "logits")
"""Operations of an LSTM that are those of a Transformer."""


@cached_by_language(64)
def stages_of(config: ModelConfig) -> tuple[MachineStage, ...]:
    """The stages in the order of computation. The scores before their division by √d_head are a stage, too."""
    stages: list[MachineStage] = []
    block_of = {point: block for block in blocks_of(config) for point in block.points}
    model = empty_model(config)
    for point in points(config):
        if short_name(point.name) in _INPUTS:
            continue
        stage = _stage(point, block_of[point.name], model)
        if stage.op == "divide":
            name = point.name.removesuffix("scores") + "product"
            stages.append(MachineStage(name, stage.block, t("Products Q·Kᵀ"), stage.side, "dot", stage.reads))
        stages.append(stage)
    return tuple(stages)


def short_name(point: str) -> str:
    """The last part of a point's name."""
    return point.rsplit(".", 1)[-1]


def is_target(block: Block) -> bool:
    """Whether a block has a row for each target token that was read."""
    return block.stack in ("target", "decoder", "output") and block.kind != "initial"


def side_of(point: str, block: Block) -> Literal["source", "target"]:
    """The tokens to which the rows of a point belong: those of keys and values of cross-attention are the source's."""
    of_source = block.attention == "cross" and short_name(point) in _OF_KEYS
    return "target" if is_target(block) and not of_source else "source"


def _stage(point: Point, block: Block, model: Model) -> MachineStage:
    short, config = short_name(point.name), model.config
    op = _operation(point.name, short, config)
    reads = [read for read in point.reads if short_name(read) not in _INPUTS]
    if short == "positions" and op == "plus":
        reads.append(point.name.replace(".positions", ADDED_POINT))
    module = model.get_submodule(point.module) if point.module else None
    matrix = getattr(module, "weight", None) if op in ("lookup", "linear", "norm", "rms") else None
    columns, width = _columns(point, block, config), 0 if matrix is None else matrix.shape[-1]
    if op == "rotate":
        width = columns // 2 if config.rope_halves else 1
    return MachineStage(
        point=point.name,
        block=block.name,
        title=t("Ids of the tokens") if short == "tokens" else title_of(point.name, config),
        side=side_of(point.name, block),
        op=op,
        reads=reads,
        columns=columns,
        weight=point.module if matrix is not None else "",
        width=width,
        bias=matrix is not None and getattr(module, "bias", None) is not None,
        factor=_factor(op, block, config),
        group=_group(block, config) if short in ("key", "value") else 1,
    )


def _operation(point: str, short: str, config: ModelConfig) -> StageOperation:
    if config.architecture == "lstm":
        return _OPERATIONS[short] if short in _OF_LSTM else "other"
    if short == "positions":
        return "plus" if config.positions in ADDED else "copy"
    if short.startswith("norm"):
        return "rms" if config.layer_norm == "rms" else "norm"
    if short.startswith("residual"):
        return "plus"
    if short in ("query", "key") and config.positions == "rope" and ".self_attn." in point:
        return "rotate"
    if short == "scores":
        return "divide" if config.scale_scores else "dot"
    if short == "activation":
        return config.activation if config.feed_forward == "plain" else "other"
    return _OPERATIONS.get(short, "other")


def _columns(point: Point, block: Block, config: ModelConfig) -> int:
    """The number of numbers of one token; 0 if there is one for each key."""
    if short_name(point.name) in ("k_proj", "v_proj"):
        return next((config.key_value_width(kind) for kind in ATTENTION_KINDS if kind == block.attention), 0)
    heads = next((config.n_heads(kind) for kind in ATTENTION_KINDS if kind == block.attention), 1)
    width = next((config.d_head(kind) for kind in ATTENTION_KINDS if kind == block.attention), config.d_model)
    sizes = {"d_model": config.d_model, "d_ff": config.d_ff, "d_head": width, "joined heads": heads * width}
    return {**sizes, "vocabulary": config.tgt_vocab_size, "position": 1}.get(point.axes[-1], 0)


def _group(block: Block, config: ModelConfig) -> int:
    """The number of heads that share a key."""
    kinds = [kind for kind in ATTENTION_KINDS if kind == block.attention]
    return next((config.n_heads(kind) * config.d_head(kind) // config.key_value_width(kind) for kind in kinds), 1)


def _factor(op: StageOperation, block: Block, config: ModelConfig) -> float:
    """What an operation multiplies or divides by, or what a norm adds below the root."""
    if op == "times":
        return config.embedding_factor or (math.sqrt(config.d_model) if config.scale_embeddings else 1.0)
    if op == "rotate":
        return config.rope_base
    if op == "divide":
        return next(math.sqrt(config.d_head(kind)) for kind in ATTENTION_KINDS if kind == block.attention)
    return config.norm_epsilon if op in ("norm", "rms") else 1.0
