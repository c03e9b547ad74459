"""What the machine shows of a model whatever it reads: its blocks with their texts, sizes, operations and code.

The messages of machine_payload.py add the numbers of a sentence. On a site without a server the browser adds them
itself (js/live/machine.js) to what `exported` gives.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from explorer.browser import machine_words
from explorer.browser.machine_stages import is_target, short_name, side_of, stages_of
from explorer.browser.structs import (
    Code,
    CodeFunction,
    CodePlace,
    MachineFacts,
    MachineMessage,
    MachinePart,
    MachinePicture,
    MachineWords,
    PointNumbers,
)
from explorer.decoding.model_diagram import MEMORY, SOFTMAX, Block, blocks_of
from explorer.decoding.operation_names import title_of
from explorer.locale import glossary
from explorer.locale.language import cached_by_language
from model.analysis.operations import parameter_counts
from model.analysis.point_code import NoCode, code_of
from model.architectures import Model, empty_model
from model.config import ATTENTION_KINDS, AttentionKind, ModelConfig
from model.dry_run import points

SOURCE, TARGET = -1, 0
"""In a shape, these stand for the number of source tokens, and for the number of target tokens that were read."""
PROJECTIONS = ("q_proj", "k_proj", "v_proj")
"""The points of an attention block that are products with its matrices of queries, keys and values."""
BLOCK_PARTS = ("joined", "gated", "out_proj")
"""The parts of an attention block that follow its heads."""


@cached_by_language(64)
def machine_of(config: ModelConfig) -> MachineMessage:
    """The message of the diagram without a sentence: pictures without numbers, `SOURCE` in the shapes."""
    blocks, counts = blocks_of(config), parameter_counts(config)
    return MachineMessage(
        part="machine",
        seq="",
        stepwise=not config.causal,
        blocks=list(blocks),
        facts={
            block.name: MachineFacts(
                title=machine_words.title_of(block, config),
                words=machine_words.words_of(block, config),
                formula=machine_words.formula_of(block, config),
                shape=_shape(block, config),
                parameters=sum(counts[point][0] for point in block.points if point in counts),
                picture=_picture(_before(block, blocks) if block.name == MEMORY else block),
            )
            for block in blocks
        },
        parts=_parts(blocks, config),
        terms=glossary.addresses(),
        numbers=config.d_model,
        vocabulary=config.tgt_vocab_size,
        stages=list(stages_of(config)),
    )


@cached_by_language(64)
def points_of(config: ModelConfig) -> dict[str, dict[str, PointNumbers]]:
    """The operations of each block by the names of their points, without their numbers.

    The memory computes nothing itself: it is the result of the encoder's last block.
    """
    computed = {point.name for point in points(config) if point.reads}  # ids and masks are inputs
    counts, blocks = parameter_counts(config), blocks_of(config)
    found: dict[str, dict[str, PointNumbers]] = {}
    for block in blocks:
        names = _before(block, blocks).points[-1:] if block.name == MEMORY else block.points
        found[block.name] = {
            name: PointNumbers(
                point=short_name(name),
                title=title_of(name, config),
                shape=[],
                parameters=counts.get(name, (0, ""))[0],
                mean=None,
                deviation=None,
                side=side_of(name, block),
            )
            for name in names
            if name in computed
        }
    return found


def code_of_block(model: Model, block: Block) -> Code:
    """The functions behind a block, each once, and the lines of each point by the last part of its name."""
    names = {"result": SOFTMAX} if block.kind == "word" else {"result": MEMORY} if block.name == MEMORY else {}
    names |= {short_name(point): point for point in block.points}
    functions: list[CodeFunction] = []
    places: dict[str, CodePlace] = {}
    for short, point in names.items():
        try:
            excerpt = code_of(model, point)
        except NoCode:
            continue
        function = CodeFunction(excerpt.file, excerpt.function, excerpt.first_line, list(excerpt.lines))
        if function not in functions:
            functions.append(function)
        places[short] = CodePlace(functions.index(function), list(excerpt.marked))
    return Code(functions, places)


def exported(config: ModelConfig) -> MachineWords:
    """Everything that the browser needs to make the messages of the machine from a run of its own."""
    model = empty_model(config)
    code = {block.name: code_of_block(model, block) for block in blocks_of(config)}
    reads = {point.name: point.reads[0] for point in points(config) if short_name(point.name) in PROJECTIONS}
    return MachineWords(machine_of(config), points_of(config), reads, code)


def parts_at(block: Block, head: int, config: ModelConfig) -> set[str]:
    """The parts of a block that can be opened with one of its heads (from 1), or with none (0)."""
    parts = machine_of(config).parts[kind_of(block)] if block.attention else {}
    return {part for part in parts if part != "head" and (head > 0 or part in BLOCK_PARTS)}


def kind_of(block: Block) -> AttentionKind:
    """The kind of an attention block."""
    return next(kind for kind in ATTENTION_KINDS if kind == block.attention)


def _before(block: Block, blocks: Collection[Block]) -> Block:
    """The block that another one reads first."""
    return next(each for each in blocks if each.name == block.reads[0])


def _parts(blocks: Collection[Block], config: ModelConfig) -> dict[AttentionKind, dict[str, MachinePart]]:
    """The parts of a block of attention and of its heads, by kind."""
    parts: dict[AttentionKind, dict[str, MachinePart]] = {}
    for block in blocks:
        if block.attention and block.attention not in parts:
            names = {short_name(stage.point) for stage in stages_of(config) if stage.block == block.name} | {"head"}
            every = machine_words.parts_of(block, config)
            parts[kind_of(block)] = {name: part for name, part in every.items() if name in names}
    return parts


def _picture(block: Block) -> MachinePicture | None:
    """The picture of a block's result, without its numbers; None without a picture."""
    if block.kind in ("tokens", "softmax", "word"):
        return None
    kind: Any = "map" if block.attention else "rows"
    side: Any = "target" if is_target(block) else "source"
    if block.kind == "linear":
        side = "step"
    elif block.kind == "positions" and block.stack == "target":
        side = "once"
    return MachinePicture(kind, side, scale=1.0, at=0, rows=0, width=0)


def _shape(block: Block, config: ModelConfig) -> list[int]:
    """The shape of a block's result without the batch; for attention, that of the weights: head, query, key."""
    rows = TARGET if is_target(block) else SOURCE
    if block.attention:
        return [config.n_heads(kind_of(block)), rows, TARGET if block.attention == "decoder" else SOURCE]
    if block.kind == "tokens":
        return [rows]
    if block.kind in ("linear", "softmax"):
        return [rows, config.tgt_vocab_size] if block.kind == "linear" else [config.tgt_vocab_size]
    if block.kind == "word":
        return [1]
    if block.kind == "initial":
        return [config.n_decoder_layers, config.d_model]
    return [rows, config.d_model]
