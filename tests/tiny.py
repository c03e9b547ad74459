"""Models and batches small enough to check by hand, shared by the tests of the model core."""

from typing import Any

import torch
from torch import Tensor

from model.architectures import Model, make_transformer
from model.config import ATTENTION_KINDS, PAD, SOS, AttentionKind, ModelConfig
from model.lstm import LSTM
from model.transformer import Transformer

VOCAB = 13
STEP_TOLERANCE = 1e-5

T5: dict[str, Any] = {
    "positions": "relative", "relative_buckets": 4, "relative_distance": 5, "layer_norm": "rms", "norm_epsilon": 1e-6,
    "norm_first": True, "bias": False, "head_width": 6, "scale_scores": False, "scale_embeddings": False,
    "feed_forward": "gated", "activation": "gelu_tanh",
}  # fmt: skip
"""The parts of T5 v1.1, with so few buckets that a short sentence needs all of them."""
VARIANTS: list[dict[str, Any]] = [
    {"attention_gate": True},
    {"positions": "alibi", "attention_gate": True, "scale_scores": False, "norm_first": True},
    {"positions": "learned", "norm_embeddings": True, "output_bias": True},
    {"layer_norm": "scalar", "scale_scores": False},
    {"residual": False},
    {"residual": False, "norm_first": True, "activation": "gelu"},
    T5,
    {"positions": "relative", "head_width": 2, "causal": False, "attention_gate": True},
]
LLAMA: dict[str, Any] = {
    "positions": "rope", "rope_base": 50.0, "rope_halves": True, "layer_norm": "rms", "norm_epsilon": 1e-6,
    "norm_first": True, "bias": False, "qkv_bias": True, "key_value_heads": 2, "feed_forward": "gated",
    "activation": "silu",
}  # fmt: skip
"""The parts of Qwen2.5; Llama has no biases."""
DECODERS: list[dict[str, Any]] = [
    {"architecture": "decoder", **parts}
    for parts in (
        {},
        {"positions": "learned", "norm_first": True, "activation": "gelu_tanh"},
        LLAMA,
        {"positions": "alibi", "causal": False},
        {"positions": "relative", "relative_buckets": 4, "relative_distance": 5, "residual": False},
    )
]
"""Models without encoder and cross-attention."""
EVERY_MODEL: list[dict[str, Any]] = [
    *(
        {"positions": positions, "norm_first": norm_first, "causal": causal}
        for positions, norm_first, causal in (
            ("sinusoidal", False, True),
            ("sinusoidal", True, False),
            ("learned", True, True),
            ("none", False, False),
            ("rope", True, True),
            ("rope", False, False),
            ("alibi", False, True),
            ("alibi", True, False),
        )
    ),
    *VARIANTS,
    *DECODERS,
    {"architecture": "lstm"},
]
"""Changes to `tiny_config` for every position scheme, norm placement, mask, variant and architecture."""


def tiny_config(**changes: Any) -> ModelConfig:
    """Two encoder layers of two heads, three decoder layers of four: no test may rely on equal stacks."""
    settings: dict[str, Any] = {
        "src_vocab_size": VOCAB,
        "tgt_vocab_size": VOCAB,
        "d_model": 16,
        "d_ff": 24,
        "n_encoder_layers": 2,
        "n_decoder_layers": 3,
        "n_encoder_heads": 2,
        "n_decoder_heads": 4,
        "max_positions": 64,
        "dropout": 0.0,
    }
    return ModelConfig(**(settings | changes))


def tiny_model(*, seed: int = 0, **changes: Any) -> Transformer:
    """An untrained model in evaluation mode; none of its weights and biases is 0."""
    model = make_transformer(tiny_config(**changes))
    generator = torch.Generator().manual_seed(seed)
    model.reset_parameters(generator)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def tiny_lstm(*, seed: int = 0, **changes: Any) -> LSTM:
    model = LSTM(tiny_config(architecture="lstm", **changes))
    model.reset_parameters(torch.Generator().manual_seed(seed))
    return model.eval()


def model_of(changes: dict[str, Any]) -> Model:
    return tiny_lstm() if changes.get("architecture") == "lstm" else tiny_model(**changes)


def kinds_of(model: Model) -> tuple[AttentionKind, ...]:
    return tuple(kind for kind in ATTENTION_KINDS if model.config.n_layers(kind))


def random_ids(*shape: int, seed: int = 1) -> Tensor:
    """Ids of ordinary tokens (no specials)."""
    return torch.randint(4, VOCAB, shape, generator=torch.Generator().manual_seed(seed))


def padded(lengths: tuple[int, ...], *, first: int | None = None, seed: int = 1) -> Tensor:
    """[batch, longest] random ids, each row right-padded beyond its own length; `first` replaces column 0."""
    ids = random_ids(len(lengths), max(lengths), seed=seed)
    if first is not None:
        ids[:, 0] = first
    for row, length in enumerate(lengths):
        ids[row, length:] = PAD
    return ids


def sources(*lengths: int, seed: int = 1) -> Tensor:
    return padded(lengths, seed=seed)


def targets(*lengths: int, seed: int = 2) -> Tensor:
    """A batch of decoder inputs of these lengths, `<sos>` first."""
    return padded(lengths, first=SOS, seed=seed)
