"""Names of a model's points, which pass through a tap (:mod:`model.tap`); :mod:`model.dry_run` lists them all."""

from __future__ import annotations

from functools import lru_cache

from model.config import AttentionKind, ModelConfig

Head = tuple[AttentionKind, int, int]
"""Kind, layer and head, both counted from 0."""

SCOPES: dict[AttentionKind, tuple[str, str]] = {
    "encoder": ("encoder", "self_attn"),
    "decoder": ("decoder", "self_attn"),
    "cross": ("decoder", "cross_attn"),
}
"""Stack and block of each kind of attention."""

HEAD_POINTS = ("query", "key", "value", "scores", "masked", "weights", "output")
"""The points of an attention block that have an axis of heads, in the order of the computation.

With ALiBi, the bias that it adds to the scores passes before them, as `bias`."""


def attention_scope(kind: AttentionKind, layer: int) -> str:
    """The prefix of the points of one attention block: `decoder.2.cross_attn` for cross-attention in layer 2."""
    stack, block = SCOPES[kind]
    return f"{stack}.{layer}.{block}"


@lru_cache(maxsize=4096)
def block_of(scope: str) -> tuple[AttentionKind, int]:
    """Kind and layer (from 0) of the attention block whose points begin with `scope`."""
    stack, layer, block = scope.split(".")[:3]
    return _KINDS[stack, block], int(layer)


_KINDS: dict[tuple[str, str], AttentionKind] = {names: kind for kind, names in SCOPES.items()}


def layer_output(config: ModelConfig, stack: str, layer: int) -> str:
    """The point at the end of a layer (from 0) of the "encoder" or "decoder" of a Transformer."""
    last = 2 if stack == "encoder" or not config.has_encoder else 3  # sublayer
    if not config.norm_first:
        return f"{stack}.{layer}.norm{last}"
    return f"{stack}.{layer}." + (f"residual{last}" if config.residual else "feed_forward.linear2")


def decoder_output(config: ModelConfig) -> str:
    """The point of a Transformer that the output projection reads."""
    return "decoder.norm" if config.norm_first else layer_output(config, "decoder", config.n_decoder_layers - 1)


def embedded(side: str, config: ModelConfig) -> str:
    """The last point of a Transformer's embedding, on the "src" or "tgt" side: what its first layer reads."""
    return f"{side}.norm" if config.norm_embeddings else f"{side}.positions"
