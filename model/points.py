"""The points of a model as data: what passes through a tap (:mod:`model.tap`), in which shape, computed from what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model.config import AttentionKind, ModelConfig

Head = tuple[AttentionKind, int, int]
"""Kind, layer and head, both counted from 0."""

SCOPES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("encoder", "self_attn"),
    "decoder": ("decoder", "self_attn"),
    "cross": ("decoder", "cross_attn"),
}
"""Stack and block of each kind of attention: its points in layer 2 begin with `decoder.2.cross_attn`."""

HEAD_POINTS = ("query", "key", "value", "scores", "masked", "weights", "output")
"""The points of an attention block that have an axis of heads, in the order of the computation.

Where ALiBi adds a bias to the scores, it passes as `bias` before them."""


@dataclass(frozen=True)
class Point:
    """One named intermediate of a model.

    `reads` are the points that it is computed from, without any other point in between. `axes` are those of its tensor.
    `module` is the path of the module that computes it and owns its parameters, or empty where it is plain arithmetic.
    In a decoding step, `key` and `value` of decoder self-attention also contain those of earlier steps.
    """

    name: str
    reads: tuple[str, ...]
    axes: tuple[str, ...]
    module: str = ""


def attention_scope(kind: AttentionKind, layer: int) -> str:
    """What the points of one attention block begin with: `decoder.2.cross_attn` for cross-attention in layer 2."""
    stack, block = SCOPES[kind]
    return f"{stack}.{layer}.{block}"


def points(config: ModelConfig) -> tuple[Point, ...]:
    """All points of a model, in the order in which they are computed when a whole target is read.

    A mask point is only passed where a mask is applied: decoding a single sentence step by step needs none.
    """
    return tuple(_lstm(config) if config.architecture == "lstm" else _transformer(config))


def layer_output(config: ModelConfig, stack: str, layer: int) -> str:
    """The point at the end of a layer (from 0) of the "encoder" or "decoder" of a Transformer."""
    last = 2 if stack == "encoder" else 3  # sublayers
    if not config.norm_first:
        return f"{stack}.{layer}.norm{last}"
    return f"{stack}.{layer}." + (f"residual{last}" if config.residual else "feed_forward.linear2")


def embedded(side: str, config: ModelConfig) -> str:
    """The last point of a Transformer's embedding, on the "src" or "tgt" side: what its first layer reads."""
    return f"{side}.norm" if config.norm_embeddings else f"{side}.positions"


HIDDEN = ("batch", "position", "d_model")
SPLIT = ("batch", "head", "position", "d_head")
CELLS = ("batch", "head", "query", "key")
LOGITS = ("batch", "position", "vocabulary")


def _transformer(config: ModelConfig) -> Iterator[Point]:
    yield from _embedding("src", config)
    memory = embedded("src", config)
    for i in range(config.n_encoder_layers):
        yield from _layer(config, "encoder", i, ("self_attn", "feed_forward"), memory)
        memory = layer_output(config, "encoder", i)
    if config.norm_first:
        yield Point("encoder.norm", (memory,), HIDDEN, "encoder.norm")
        memory = "encoder.norm"

    yield from _embedding("tgt", config)
    for i in range(config.n_decoder_layers):  # cross-attention's keys and values come before the first layer
        yield from _keys_values(f"decoder.{i}.cross_attn", f"decoder.layers.{i}.cross_attn", memory)
    x = embedded("tgt", config)
    for i in range(config.n_decoder_layers):
        yield from _layer(config, "decoder", i, ("self_attn", "cross_attn", "feed_forward"), x)
        x = layer_output(config, "decoder", i)
    if config.norm_first:
        yield Point("decoder.norm", (x,), HIDDEN, "decoder.norm")
        x = "decoder.norm"
    yield Point("logits", (x,), LOGITS, "output")


def _embedding(side: str, config: ModelConfig) -> Iterator[Point]:
    yield Point(f"{side}.tokens", (), ("batch", "position"))
    yield Point(f"{side}.embedding", (f"{side}.tokens",), HIDDEN, f"{side}_embedding")
    if config.architecture == "transformer":
        yield Point(f"{side}.scaled", (f"{side}.embedding",), HIDDEN)
        yield Point(f"{side}.positions", (f"{side}.scaled",), HIDDEN, f"positions_{side}")
        if config.norm_embeddings:
            yield Point(f"{side}.norm", (f"{side}.positions",), HIDDEN, f"norm_{side}")


def _keys_values(scope: str, module: str, memory: str) -> Iterator[Point]:
    yield Point(f"{scope}.k_proj", (memory,), HIDDEN, f"{module}.k_proj")
    yield Point(f"{scope}.v_proj", (memory,), HIDDEN, f"{module}.v_proj")


def _weighting(scope: str, bias: bool = False) -> Iterator[Point]:
    """From queries, keys and values to the outputs of the heads; with ALiBi, a bias is part of the scores."""
    if bias:
        yield Point(f"{scope}.bias", (), CELLS)
    yield Point(f"{scope}.scores", (f"{scope}.query", f"{scope}.key") + ((f"{scope}.bias",) if bias else ()), CELLS)
    yield Point(f"{scope}.mask", (), CELLS)
    yield Point(f"{scope}.masked", (f"{scope}.scores", f"{scope}.mask"), CELLS)
    yield Point(f"{scope}.weights", (f"{scope}.masked", f"{scope}.mask"), CELLS)
    yield Point(f"{scope}.output", (f"{scope}.weights", f"{scope}.value"), SPLIT)


def _layer(config: ModelConfig, stack: str, layer: int, blocks: tuple[str, ...], x: str) -> Iterator[Point]:
    """The points of one layer that reads `x`, wired for pre-norm or post-norm, with residual connections or without."""
    at, module = f"{stack}.{layer}", f"{stack}.layers.{layer}"
    for number, block in enumerate(blocks, start=1):
        norm, residual, y = f"{at}.norm{number}", f"{at}.residual{number}", x
        if config.norm_first:
            yield Point(norm, (x,), HIDDEN, f"{module}.norm{number}")
            y = norm
        if block == "feed_forward":
            yield from _feed_forward(f"{at}.{block}", f"{module}.{block}", y)
            y = f"{at}.{block}.linear2"
        else:
            if block == "self_attn":
                yield from _keys_values(f"{at}.{block}", f"{module}.{block}", y)
            yield from _attention(config, f"{at}.{block}", f"{module}.{block}", y)
            y = f"{at}.{block}.out_proj"
        if config.residual:
            yield Point(residual, (x, y), HIDDEN)
            y = residual
        if not config.norm_first:
            yield Point(norm, (y,), HIDDEN, f"{module}.norm{number}")
            y = norm
        x = y


def _attention(config: ModelConfig, scope: str, module: str, x: str) -> Iterator[Point]:
    yield Point(f"{scope}.q_proj", (x,), HIDDEN, f"{module}.q_proj")
    for name, projection in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj")):
        yield Point(f"{scope}.{name}", (f"{scope}.{projection}",), SPLIT)
    yield from _weighting(scope, bias=config.positions == "alibi" and scope.endswith("self_attn"))
    joined = f"{scope}.joined"
    yield Point(joined, (f"{scope}.output",), HIDDEN)
    if config.attention_gate:
        yield Point(f"{scope}.gate", (x,), HIDDEN, f"{module}.gate_proj")
        yield Point(f"{scope}.gated", (joined, f"{scope}.gate"), HIDDEN)
        joined = f"{scope}.gated"
    yield Point(f"{scope}.out_proj", (joined,), HIDDEN, f"{module}.out_proj")


def _feed_forward(scope: str, module: str, x: str) -> Iterator[Point]:
    wide = ("batch", "position", "d_ff")
    yield Point(f"{scope}.linear1", (x,), wide, f"{module}.linear1")
    yield Point(f"{scope}.activation", (f"{scope}.linear1",), wide)
    yield Point(f"{scope}.linear2", (f"{scope}.activation",), HIDDEN, f"{module}.linear2")


def _lstm(config: ModelConfig) -> Iterator[Point]:
    scope = attention_scope("cross", 0)
    yield from _embedding("src", config)
    yield Point("encoder.memory", ("src.embedding",), HIDDEN, "encoder")
    yield from _embedding("tgt", config)
    yield Point("decoder.initial", ("encoder.memory",), ("layer", "batch", "d_model"), "initial")
    yield Point("decoder.states", ("tgt.embedding", "decoder.initial"), HIDDEN, "decoder")
    yield Point(f"{scope}.query", ("decoder.states",), SPLIT)
    yield Point(f"{scope}.key", ("encoder.memory",), SPLIT, "k_proj")
    yield Point(f"{scope}.value", ("encoder.memory",), SPLIT)
    yield from _weighting(scope)
    yield Point("decoder.combined", (f"{scope}.output", "decoder.states"), HIDDEN, "combine")
    yield Point("logits", ("decoder.combined",), LOGITS, "output")
