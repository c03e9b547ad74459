"""The parameters and floating-point operations of each part of a Transformer, as a function of its sizes."""

from __future__ import annotations

from dataclasses import dataclass

from model.config import AttentionKind, ModelConfig
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
    n_enc, n_dec = config.n_layers("encoder"), config.n_layers("decoder")
    stacks, n_tgt = (2, n_tgt) if n_enc else (1, n_src + n_tgt)  # without an encoder, the decoder reads both sides
    into = 2 if config.feed_forward == "gated" else 1  # projections into the hidden units
    feed_forward = (into + 1) * d * ff + config.bias * (into * ff + d)
    feed_forward_flops = 2 * (into + 1) * d * ff
    norm = {"standard": 2 * d, "rms": d, "scalar": 2}[config.layer_norm]
    norms = 2 * n_enc + 2 * n_dec + config.n_layers("cross") + stacks * (config.norm_first + config.norm_embeddings)
    position_table = config.max_positions * d if config.positions == "learned" else 0
    buckets = config.relative_buckets if config.positions == "relative" else 0
    biases = buckets * (config.n_decoder_heads + (config.n_encoder_heads if n_enc else 0))
    shared, target = config.share_embeddings, config.tgt_vocab_size * d
    source = 0 if shared == "all" or not n_enc else config.src_vocab_size * d

    def attention(kind: AttentionKind, projections: str, weights: str) -> tuple[Part, Part]:
        """The four projections of a kind of attention; its scores and values."""
        queries, seen = (n_src if kind == "encoder" else n_tgt), (n_tgt if kind == "decoder" else n_src)
        n, width, keys = config.n_layers(kind), config.n_heads(kind) * config.d_head(kind), config.key_value_width(kind)
        in_biases = (config.bias or config.qkv_bias) * (width + 2 * keys) + config.bias * d
        matrices = 2 * d * (width + keys)
        return (
            Part(projections, n * (matrices + in_biases), n * (queries + seen) * matrices),
            Part(weights, 0, n * 2 * 2 * queries * seen * width),
        )

    return (
        Part(t("source embedding"), source, 0),
        Part(_target_name(shared), target, 0),
        Part(t("positions"), stacks * position_table + biases, 0),
        *attention("encoder", t("encoder: projections of attention"), t("encoder: scores and values")),
        Part(t("encoder: feed-forward"), n_enc * feed_forward, n_enc * n_src * feed_forward_flops),
        *attention(
            "decoder", t("decoder: projections of self-attention"), t("decoder: scores and values of self-attention")
        ),
        *attention(
            "cross", t("decoder: projections of cross-attention"), t("decoder: scores and values of cross-attention")
        ),
        Part(t("decoder: feed-forward"), n_dec * feed_forward, n_dec * n_tgt * feed_forward_flops),
        Part(t("layer norms"), norms * norm, 0),
        Part(
            t("output projection"),
            (config.tgt_vocab_size if config.output_bias else 0) + (target if shared == "none" else 0),
            n_tgt * 2 * target,
        ),
    )


def parameters_of(config: ModelConfig) -> int:
    """The parameters of a model of any architecture."""
    if config.architecture != "lstm":
        return sum(part.parameters for part in budget(config, 1, 1))
    d, target = config.d_model, config.tgt_vocab_size * config.d_model
    encoder = config.n_encoder_layers * 2 * 4 * (d // 2) * (d + d // 2 + 2)  # two directions, four gates
    decoder = config.n_decoder_layers * 4 * d * (2 * d + 2)
    between = config.n_decoder_layers * (d * d + d) + d * d + 2 * d * d  # first state, keys, combination
    source = 0 if config.share_embeddings == "all" else config.src_vocab_size * d
    output = (config.tgt_vocab_size if config.output_bias else 0) + (target if config.share_embeddings == "none" else 0)
    return encoder + decoder + between + source + target + output


def _target_name(shared: str) -> str:
    """The name of the matrix of target tokens, by what shares it."""
    return {
        "none": t("target embedding"),
        "target": t("target embedding and output, one matrix"),
        "all": t("embeddings and output, one matrix"),
    }[shared]


PAPER_VOCABULARY = 37_000
PAPER = {
    message("paper base"): ({"d_model": 512, "d_ff": 2048, "heads": 8, "layers": 6}, 65e6),
    message("paper big"): ({"d_model": 1024, "d_ff": 4096, "heads": 16, "layers": 6}, 213e6),
}
"""Sizes of Vaswani et al. (2017), Table 3, and the parameter counts printed there; both sides share 37,000 pieces."""
