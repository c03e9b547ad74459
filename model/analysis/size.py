"""The parameters and floating-point operations of each part of a Transformer, as a function of its sizes."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import ModelConfig


@dataclass(frozen=True)
class Part:
    """One part of a model: its parameters, and the floating-point operations of its matrix products.

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
    square, wide = d * d + d, 2 * d * ff + ff + d
    norm = 2 if config.layer_norm == "scalar" else 2 * d
    n_enc, n_dec = config.n_encoder_layers, config.n_decoder_layers
    source, target = config.src_vocab_size * d, config.tgt_vocab_size * d
    places = config.max_positions * d if config.positions == "learned" else 0
    final = norm if config.norm_first else 0
    project = 2 * 4 * d * d  # four projections per token
    feed = 2 * 2 * d * ff
    shared = config.share_embeddings
    bias = config.tgt_vocab_size if config.output_bias else 0
    embedded = 2 * norm if config.norm_embeddings else 0
    return (
        Part("source embedding", 0 if shared == "all" else source, 0),
        Part("target embedding", target, 0),
        Part("positions", 2 * places, 0),
        Part("encoder: projections of attention", n_enc * 4 * square, n_enc * n_src * project),
        Part("encoder: scores and values", 0, n_enc * _products(n_src, n_src, d)),
        Part("encoder: feed-forward", n_enc * wide, n_enc * n_src * feed),
        Part("decoder: projections of self-attention", n_dec * 4 * square, n_dec * n_tgt * project),
        Part("decoder: scores and values of self-attention", 0, n_dec * _products(n_tgt, n_tgt, d)),
        Part("decoder: projections of cross-attention", n_dec * 4 * square, n_dec * (n_src + n_tgt) * project // 2),
        Part("decoder: scores and values of cross-attention", 0, n_dec * _products(n_tgt, n_src, d)),
        Part("decoder: feed-forward", n_dec * wide, n_dec * n_tgt * feed),
        Part("layer norms", n_enc * 2 * norm + n_dec * 3 * norm + 2 * final + embedded, 0),
        Part("output projection", bias + (target if shared == "none" else 0), n_tgt * 2 * target),
    )


def _products(queries: int, keys: int, d_model: int) -> int:
    """Q·Kᵀ and weights·V, all heads together."""
    return 2 * 2 * queries * keys * d_model


PAPER_VOCABULARY = 37_000
PAPER = {
    "paper base": ({"d_model": 512, "d_ff": 2048, "heads": 8, "layers": 6}, 65e6),
    "paper big": ({"d_model": 1024, "d_ff": 4096, "heads": 16, "layers": 6}, 213e6),
}
"""Sizes of Vaswani et al. (2017), Table 3, and the parameter counts printed there; both sides share 37,000 pieces."""
