"""Titles of the operations of a model."""

from __future__ import annotations

from explorer.locale.messages import message, t, translated
from model.config import ModelConfig

_OPERATIONS = {
    "scaled": message("× √d_model"),
    "q_proj": message("Queries W_Q·x"),
    "k_proj": message("Keys W_K·x"),
    "v_proj": message("Values W_V·x"),
    "query": message("Queries, split into heads"),
    "key": message("Keys, split into heads"),
    "value": message("Values, split into heads"),
    "bias": message("Position bias"),
    "scores": message("Scores Q·Kᵀ / √d_head"),
    "masked": message("Mask"),
    "weights": message("Softmax over keys"),
    "output": message("Weights · values"),
    "joined": message("Heads joined (concatenation)"),
    "gate": message("Gate σ(W_G·x)"),
    "gated": message("Heads × gate"),
    "out_proj": message("Output projection W_O"),
    "linear1": message("Feed-forward W₁·x + b₁"),
    "gate_proj": message("Feed-forward gate W_g·x"),
    "activation": message("Activation"),
    "linear2": message("Feed-forward W₂·h + b₂"),
}
_TOP = {
    "src.embedding": message("Embedding lookup"),
    "tgt.embedding": message("Embedding lookup"),
    "src.positions": message("Add position (positional encoding)"),
    "tgt.positions": message("Add position (positional encoding)"),
    "src.norm": message("Layer norm (embedding)"),
    "tgt.norm": message("Layer norm (embedding)"),
    "encoder.norm": message("Last layer norm"),
    "decoder.norm": message("Last layer norm"),
    "encoder.memory": message("LSTM of the encoder"),
    "decoder.initial": message("First state"),
    "decoder.states": message("LSTM of the decoder"),
    "decoder.combined": message("Combine"),
    "logits": message("Output projection (logits)"),
    "softmax": message("Softmax over the vocabulary"),
}
_SUBLAYERS = {
    "encoder": (message("self-attention"), message("feed-forward")),
    "decoder": (message("self-attention"), message("cross-attention"), message("feed-forward")),
}


def title_of(name: str, config: ModelConfig | None = None) -> str:
    """An operation's title; without `config`, in a model with an encoder."""
    if name in _TOP:
        return translated(_TOP[name])
    short = name.rsplit(".", 1)[-1]
    has_encoder = config is None or config.has_encoder
    sublayers = _SUBLAYERS.get(name.split(".")[0] if has_encoder else "encoder", ())
    if short.startswith("residual"):
        return t("Residual: x + {sublayer}", sublayer=translated(sublayers[int(short[-1]) - 1]))
    if short.startswith("norm"):
        return t("Layer norm ({sublayer})", sublayer=translated(sublayers[int(short[-1]) - 1]))
    title = translated(_OPERATIONS[short])
    return t("{title} (cross)", title=title) if ".cross_attn." in name else title
