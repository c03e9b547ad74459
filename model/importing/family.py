"""How a family of models differs from others, and what its settings in config.json mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import torch
from msgspec import Meta, Struct
from torch import Tensor

from model.config import ModelConfig
from model.importing.languages import Languages
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder, settings_of
from model.importing.texts import Texts

_MAX_WIDTH = 16_384
_Layers = Annotated[int, Meta(ge=1, le=64)]
_Heads = Annotated[int, Meta(ge=1, le=_MAX_WIDTH)]
_Units = Annotated[int, Meta(ge=1, le=16 * _MAX_WIDTH)]
_Width = Annotated[int, Meta(ge=2, le=_MAX_WIDTH)]
_Rate = Annotated[float, Meta(ge=0, lt=1)]
_Epsilon = Annotated[float, Meta(gt=0, lt=1)]
_Positions = Annotated[int, Meta(ge=2, le=10**6)]
_Rows = Annotated[int, Meta(ge=4, le=2**31)]
_Id = Annotated[int, Meta(ge=0, le=2**31)]
_SIZES: dict[str, Any] = {
    "d_model": _Width, "d_ff": _Units | None, "n_encoder_layers": _Layers, "n_decoder_layers": _Layers,
    "n_encoder_heads": _Heads, "n_decoder_heads": _Heads, "head_width": _Units, "max_positions": _Positions,
    "activation": str, "norm_epsilon": _Epsilon, "dropout": _Rate, "attention_dropout": _Rate,
    "activation_dropout": _Rate, "scale_embeddings": bool, "relative_buckets": Annotated[int, Meta(ge=4, le=4096)],
    "relative_distance": Annotated[int, Meta(ge=2, le=65_536)],
}  # fmt: skip
"""Settings of ModelConfig that have other names in config.json, and what is allowed there."""
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("dropout", "attention_dropout", "activation_dropout"), 0.0),
    "d_ff": None,
    "scale_embeddings": False,
    "relative_buckets": 32,
    "relative_distance": 128,
}
ACTIVATIONS = {
    **{name: name for name in ("relu", "gelu", "silu")},
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "swish": "silu",
}


class _Common(Struct, kw_only=True):
    """Settings that every family has."""

    vocab_size: _Rows
    eos_token_id: _Id | list[_Id]
    pad_token_id: _Id
    bos_token_id: _Id | None = None
    decoder_start_token_id: _Id | None = None
    tie_word_embeddings: bool = True


class _Settings(_Common, kw_only=True):
    """Settings with the same name wherever they are; which of them a family has is in its `known`."""

    decoder_ffn_dim: _Units | None = None
    share_encoder_decoder_embeddings: bool = True
    decoder_vocab_size: _Rows | None = None
    num_decoder_layers: _Layers | None = None
    feed_forward_proj: str = "relu"
    scale_decoder_outputs: bool | None = None
    window_size: _Positions = 256
    attention_types: list[tuple[list[str], int]] = []
    word_embed_proj_dim: _Width | None = None
    num_key_value_heads: _Heads | None = None
    head_dim: _Units | None = None
    rope_theta: Annotated[float, Meta(ge=1, le=10**12)] | None = None
    rope_parameters: dict[str, Any] | None = None
    layer_types: list[str] | None = None


Values = Mapping[str, Any]
Names = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a family differs from the others.

    `sizes` are our settings with their names in config.json, `known` further ones that are read, `defaults` what a
    missing one stands for, `switches` those with one allowed value, `ignored` those without effect on the computation.
    `build` gives further settings of ModelConfig, `texts` reads vocabularies and tokenizers.

    `layer` is the beginning of a layer's tensors; `names` are our modules within a layer of each stack with their
    names, or two of which a file has one, or a third of one (`attn.c_attn:0`); `others` are modules outside layers,
    and `table` is the embedding of a model with one side. Tensors named in `unbiased` have no bias, though others of
    the family have; those of `transposed` families have their axes the other way round.
    """

    name: str
    sizes: Names
    texts: Callable[[SourceFolder, Any, Languages], Texts]
    build: Callable[[Any], dict[str, Any]]
    layer: str
    names: Mapping[str, Names]
    others: Names
    known: tuple[str, ...] = ()
    defaults: Values = field(default_factory=dict)
    switches: Values = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    prefix: str = "model."
    table: str = ""
    skipped_positions: int = 0
    unbiased: tuple[str, ...] = ()
    transposed: bool = False
    interleaved: bool = False
    has_languages: bool = False
    tied_by_file: bool = False
    has_scaled_logits: Callable[[Any], bool] = field(default=lambda settings: False)
    computed_positions: Callable[[ModelConfig, Any], Tensor] | None = None
    licence: str = ""

    @property
    def read(self) -> set[str]:
        """The settings in config.json that are read."""
        return {*self.sizes.values(), *self.known, *_Common.__struct_fields__}

    def settings(self, config: Values) -> Any:
        """The settings in config.json.

        Raises:
            ImportFailed: one is missing, or has a value that is not allowed; the message names it.
        """
        fields = [
            (ours, _SIZES[ours], msgspec.field(name=theirs, default=_DEFAULTS.get(ours, msgspec.NODEFAULT)))
            for ours, theirs in self.sizes.items()
        ]
        kind: Any = msgspec.defstruct(self.name, fields, bases=(_Settings,), kw_only=True)
        return settings_of(dict(self.defaults) | {k: v for k, v in config.items() if v is not None}, kind, CONFIG)


def of_bart(settings: Any, **more: Any) -> dict[str, Any]:
    """Settings of ModelConfig for BART, Marian and their kin.

    Raises:
        ImportFailed: the feed-forward layers of encoder and decoder differ in size.
    """
    if settings.d_ff != settings.decoder_ffn_dim:
        raise ImportFailed(
            "{config} has feed-forward layers of {d_ff} units in the encoder and {decoder_ffn_dim} "
            "in the decoder; this Transformer has one size for both.",
            config=CONFIG,
            d_ff=settings.d_ff,
            decoder_ffn_dim=settings.decoder_ffn_dim,
        )
    return {"embedding_factor": math.sqrt(settings.d_model) if settings.scale_embeddings else 1.0, **more}


def of_t5(settings: Any) -> dict[str, Any]:
    """Settings of ModelConfig for T5 and its kin; raises an ImportFailed for an unknown feed-forward layer."""
    name = settings.feed_forward_proj.removeprefix("gated-")
    if name not in ACTIVATIONS:
        raise ImportFailed(
            "{config} has feed_forward_proj={feed_forward_proj:.40}; known: {feed_forward}, and these after gated-.",
            config=CONFIG,
            feed_forward_proj=repr(settings.feed_forward_proj),
            feed_forward=", ".join(ACTIVATIONS),
        )
    gated = name != settings.feed_forward_proj
    return {
        "n_decoder_layers": settings.num_decoder_layers or settings.n_encoder_layers,
        "n_decoder_heads": settings.n_encoder_heads,
        "attention_dropout": settings.dropout,
        "activation_dropout": settings.dropout,
        # As in all published models, in spite of its name.
        "activation": "gelu_tanh" if settings.feed_forward_proj == "gated-gelu" else ACTIVATIONS[name],
        "feed_forward": "gated" if gated else "plain",
        "norm_first": True,
        "layer_norm": "rms",
        "bias": False,
        "positions": "relative",
        "scale_scores": False,
        "scale_embeddings": False,
    }


def without_encoder(settings: Any, **more: Any) -> dict[str, Any]:
    """Settings of ModelConfig for every model without an encoder."""
    common = {"architecture": "decoder", "separator": False, "norm_first": True, "scale_embeddings": False}
    return {**common, "dropout": 0.0, "d_ff": settings.d_ff or 4 * settings.d_model, "positions": "learned", **more}


def of_gpt_neo(settings: Any) -> dict[str, Any]:
    """Settings of ModelConfig for GPT-Neo; raises an ImportFailed for an unknown kind of attention."""
    kinds = {kind for kinds, n in settings.attention_types for kind in kinds if n}
    if not kinds <= {"global", "local"}:
        raise ImportFailed(
            "{config} has attention_types with {kinds:.60}; known: global, local.",
            config=CONFIG,
            kinds=repr(sorted(kinds)),
        )
    window = settings.window_size if "local" in kinds else settings.max_positions
    return without_encoder(settings, scale_scores=False, max_positions=min(window, settings.max_positions))


def of_opt(settings: Any) -> dict[str, Any]:
    """Settings of ModelConfig for OPT; raises an ImportFailed if embeddings are narrower than the layers."""
    if settings.word_embed_proj_dim not in (None, settings.d_model):
        raise ImportFailed(
            "{config} has word_embed_proj_dim={width} beside hidden_size={d_model}, "
            "as OPT-350m has; this Transformer has one width.",
            config=CONFIG,
            width=settings.word_embed_proj_dim,
            d_model=settings.d_model,
        )
    return without_encoder(settings)


def of_llama(settings: Any, **more: Any) -> dict[str, Any]:
    """Settings of ModelConfig for Llama and its kin; raises an ImportFailed for scaled positions and for windows."""
    rope = settings.rope_parameters or {}
    if rope.get("rope_type", "default") != "default" or (rope.keys() - {"rope_type", "rope_theta"}):
        raise ImportFailed(
            "{config} has rope_parameters={rope:.80}; this Transformer rotates without scaling.",
            config=CONFIG,
            rope=repr(rope),
        )
    if set(settings.layer_types or ()) - {"full_attention"}:
        raise ImportFailed(
            "{config} has layer_types other than full_attention, which this Transformer cannot compute.", config=CONFIG
        )
    heads = settings.n_decoder_heads
    width, keys = settings.head_dim or settings.d_model // heads, settings.num_key_value_heads or heads
    return without_encoder(
        settings,
        positions="rope",
        rope_halves=True,
        rope_base=float(rope.get("rope_theta") or settings.rope_theta or 10_000.0),
        layer_norm="rms",
        bias=False,
        feed_forward="gated",
        head_width=0 if width * heads == settings.d_model else width,
        key_value_heads=0 if keys == heads else keys,
        **more,
    )


def fairseq_sinusoids(length: int, d_model: int, first: int) -> Tensor:
    """Fairseq's table of positions: all sines, then all cosines, of slightly other wavelengths than the paper's.

    With n pairs, pair i turns by 10000^(-i/(n-1)) radians per position, where the paper divides by n (§3.5). Positions
    count from `first`. In float32 and in this order, as in the models' training.

    Shapes:
        returns: [pos, d_model] float32; an odd d_model ends in a column of zeros.
    """
    half = d_model // 2
    rates = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
    angles = torch.arange(first, first + length).float()[:, None] * rates  # [pos, pair]
    table = torch.cat((angles.sin(), angles.cos()), dim=1)
    return torch.nn.functional.pad(table, (0, d_model - 2 * half))
