"""The parameters and floating-point operations of each part of a Transformer, as a function of its sizes."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import ATTENTION_KINDS, ModelConfig
from model.wording import message, t


@dataclass(frozen=True)
class Part:
    """One part of a model: its parameters, and the floating-point operations of its matmuls.

    A multiply-add counts as two operations; softmax, norms and sums are left out, as usual.
    """

    name: str
    parameters: int
    flops: int


def budget(config: ModelConfig, n_src: int, n_tgt: int) -> tuple[Part, ...]:
    """Every part of a model, for one teacher-forced pass over `n_src` source and `n_tgt` target tokens.

    Each tied matrix is counted once, as the target embedding.
    """
    d, ff = config.d_model, config.d_ff
    inner = {kind: config.n_heads(kind) * config.d_head(kind) for kind in ATTENTION_KINDS}  # all heads together
    keys = {kind: config.key_value_width(kind) for kind in ATTENTION_KINDS}
    qkv_bias = config.bias or config.qkv_bias
    attention = {  # parameters
        kind: 2 * d * (width + keys[kind]) + qkv_bias * (width + 2 * keys[kind]) + config.bias * d
        for kind, width in inner.items()
    }
    into = 2 if config.feed_forward == "gated" else 1  # projections into the hidden units
    feed_forward = (into + 1) * d * ff + config.bias * (into * ff + d)
    norm = {"standard": 2 * d, "rms": d, "scalar": 2}[config.layer_norm]
    buckets = config.relative_buckets if config.positions == "relative" else 0
    stacks, n_dec = 2 if config.has_encoder else 1, config.n_decoder_layers
    n_enc, n_cross = (config.n_encoder_layers, n_dec) if config.has_encoder else (0, 0)
    biases = buckets * (config.n_decoder_heads + (config.n_encoder_heads if config.has_encoder else 0))
    source, target = config.src_vocab_size * d, config.tgt_vocab_size * d
    if not config.has_encoder:  # the decoder reads both sides, with one table
        n_tgt, source = n_src + n_tgt, 0
    position_table = config.max_positions * d if config.positions == "learned" else 0
    final_norm = norm if config.norm_first else 0
    # Of four projections, per token.
    projection_flops = {kind: 2 * 2 * d * (width + keys[kind]) for kind, width in inner.items()}
    feed_forward_flops = 2 * (into + 1) * d * ff
    shared = config.share_embeddings
    bias = config.tgt_vocab_size if config.output_bias else 0
    embedding_norms = stacks * norm if config.norm_embeddings else 0
    cross_flops = (n_src + n_tgt) * projection_flops["cross"] // 2
    return (
        Part(t("source embedding"), 0 if shared == "all" else source, 0),
        Part(_target_name(shared), target, 0),
        Part(t("positions"), stacks * position_table + biases, 0),
        Part(
            t("encoder: projections of attention"),
            n_enc * attention["encoder"],
            n_enc * n_src * projection_flops["encoder"],
        ),
        Part(t("encoder: scores and values"), 0, n_enc * _attention_flops(n_src, n_src, inner["encoder"])),
        Part(t("encoder: feed-forward"), n_enc * feed_forward, n_enc * n_src * feed_forward_flops),
        Part(
            t("decoder: projections of self-attention"),
            n_dec * attention["decoder"],
            n_dec * n_tgt * projection_flops["decoder"],
        ),
        Part(
            t("decoder: scores and values of self-attention"),
            0,
            n_dec * _attention_flops(n_tgt, n_tgt, inner["decoder"]),
        ),
        Part(t("decoder: projections of cross-attention"), n_cross * attention["cross"], n_cross * cross_flops),
        Part(
            t("decoder: scores and values of cross-attention"),
            0,
            n_cross * _attention_flops(n_tgt, n_src, inner["cross"]),
        ),
        Part(t("decoder: feed-forward"), n_dec * feed_forward, n_dec * n_tgt * feed_forward_flops),
        Part(t("layer norms"), (2 * n_enc + 2 * n_dec + n_cross) * norm + stacks * final_norm + embedding_norms, 0),
        Part(t("output projection"), bias + (target if shared == "none" else 0), n_tgt * 2 * target),
    )


def _target_name(shared: str) -> str:
    """The name of the matrix of target tokens, by what shares it."""
    return {
        "none": t("target embedding"),
        "target": t("target embedding and output, one matrix"),
        "all": t("embeddings and output, one matrix"),
    }[shared]


def _attention_flops(queries: int, keys: int, width: int) -> int:
    """The operations of Q·Kᵀ and weights·V, for heads that are `width` wide together."""
    return 2 * 2 * queries * keys * width


PAPER_VOCABULARY = 37_000
PAPER = {
    message("paper base"): ({"d_model": 512, "d_ff": 2048, "heads": 8, "layers": 6}, 65e6),
    message("paper big"): ({"d_model": 1024, "d_ff": 4096, "heads": 16, "layers": 6}, 213e6),
}
"""Sizes of Vaswani et al. (2017), Table 3, and the parameter counts printed there; both sides share 37,000 pieces."""
