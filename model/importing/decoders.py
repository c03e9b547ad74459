"""Import models without an encoder, which continue text: GPT-2, GPT-Neo, OPT, and Llama and Qwen2 with their kin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from msgspec import Meta, Struct, field

from model.config import SOS, SPECIALS, UNK, ModelConfig
from model.importing.byte_pairs import read_byte_pairs
from model.importing.config_keys import check_keys
from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import CONFIG, TOKENIZER, ImportFailed, SourceFolder, settings_of
from model.importing.translator import (
    Heads,
    Id,
    ImportedTranslator,
    Layers,
    Rows,
    Units,
    Vocabulary,
    Width,
    read_search,
    spellings,
)
from model.importing.weights import Ledger, assembled, set_table
from model.text.bytelevel import ByteLevelTokenizer

_Positions = Annotated[int, Meta(ge=2, le=10**6)]
_Epsilon = Annotated[float, Meta(gt=0, lt=1)]
_Base = Annotated[float, Meta(ge=1, le=10**12)]
_ACTIVATIONS = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "swish": "silu",
    **{name: name for name in ("relu", "gelu", "silu")},
}
_BUFFERS = re.compile(r"\.attn\.(attention\.)?(bias|masked_bias)$|\.rotary_emb\.inv_freq$")
"""Masks and angles that old files contain; no model learns them."""


class _Settings(Struct, kw_only=True):
    vocab_size: Rows
    eos_token_id: Id | list[Id]
    bos_token_id: Id | None = None
    tie_word_embeddings: bool = True


class _GPT2(_Settings, kw_only=True):
    d_model: Width = field(name="n_embd")
    n_decoder_layers: Layers = field(name="n_layer")
    n_decoder_heads: Heads = field(name="n_head")
    max_positions: _Positions = field(name="n_positions")
    d_ff: Units | None = field(name="n_inner", default=None)
    activation: str = field(name="activation_function", default="gelu_new")
    norm_epsilon: _Epsilon = field(name="layer_norm_epsilon", default=1e-5)


class _GPTNeo(_Settings, kw_only=True):
    d_model: Width = field(name="hidden_size")
    n_decoder_layers: Layers = field(name="num_layers")
    n_decoder_heads: Heads = field(name="num_heads")
    max_positions: _Positions = field(name="max_position_embeddings")
    d_ff: Units | None = field(name="intermediate_size", default=None)
    activation: str = field(name="activation_function", default="gelu_new")
    norm_epsilon: _Epsilon = field(name="layer_norm_epsilon", default=1e-5)
    window_size: _Positions = 256
    attention_types: list[tuple[list[str], int]]


class _Recent(_Settings, kw_only=True):
    d_model: Width = field(name="hidden_size")
    n_decoder_layers: Layers = field(name="num_hidden_layers")
    n_decoder_heads: Heads = field(name="num_attention_heads")
    max_positions: _Positions = field(name="max_position_embeddings")


class _OPT(_Recent, kw_only=True):
    d_ff: Units = field(name="ffn_dim")
    activation: str = field(name="activation_function", default="relu")
    word_embed_proj_dim: Width | None = None


class _Llama(_Recent, kw_only=True):
    d_ff: Units = field(name="intermediate_size")
    activation: str = field(name="hidden_act", default="silu")
    norm_epsilon: _Epsilon = field(name="rms_norm_eps", default=1e-6)
    num_key_value_heads: Heads | None = None
    head_dim: Units | None = None
    rope_theta: _Base | None = None
    rope_parameters: dict[str, Any] | None = None
    layer_types: list[str] | None = None
    tie_word_embeddings: bool = False


Names = Mapping[str, str]
"""Our names of a layer's modules, and theirs."""


@dataclass(frozen=True)
class _Family:
    """How a family differs from the others.

    `table`, `positions`, `layer` and `norm` are the names of its tensors, `names` those within a layer; `switches` are
    settings with one allowed value, `ignored` those without effect on the computation; `build` reads further settings.
    """

    name: str
    settings: type[_Settings]
    prefix: str
    table: str
    positions: str
    layer: str
    norm: str
    names: Names
    switches: Mapping[str, Any]
    ignored: tuple[str, ...]
    build: Callable[[Any], dict[str, Any]]
    transposed: bool = False
    skipped_positions: int = 0
    begins: bool = False


def _of_gpt_neo(settings: _GPTNeo) -> dict[str, Any]:
    kinds = {kind for kinds, n in settings.attention_types for kind in kinds if n}
    if not kinds <= {"global", "local"}:
        raise ImportFailed(
            "{config} has attention_types with {kinds:.60}; known: global, local.",
            config=CONFIG,
            kinds=repr(sorted(kinds)),
        )
    window = settings.window_size if "local" in kinds else settings.max_positions
    return {"positions": "learned", "scale_scores": False, "max_positions": min(window, settings.max_positions)}


def _of_opt(settings: _OPT) -> dict[str, Any]:
    if settings.word_embed_proj_dim not in (None, settings.d_model):
        raise ImportFailed(
            "{config} has word_embed_proj_dim={width} beside hidden_size={d_model}, "
            "as OPT-350m has; this Transformer has one width.",
            config=CONFIG,
            width=settings.word_embed_proj_dim,
            d_model=settings.d_model,
        )
    return {"positions": "learned"}


def _of_llama(settings: _Llama) -> dict[str, Any]:
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
    width, heads = settings.head_dim or settings.d_model // settings.n_decoder_heads, settings.n_decoder_heads
    keys = settings.num_key_value_heads or heads
    return {
        "positions": "rope",
        "rope_halves": True,
        "rope_base": float(rope.get("rope_theta") or settings.rope_theta or 10_000.0),
        "layer_norm": "rms",
        "bias": False,
        "feed_forward": "gated",
        "head_width": 0 if width * heads == settings.d_model else width,
        "key_value_heads": 0 if keys == heads else keys,
    }


_ATTENTION = {name: f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj")}
_LLAMA_NAMES = {
    "norm1": "input_layernorm",
    **{f"self_attn.{ours}": theirs for ours, theirs in _ATTENTION.items()},
    "self_attn.out_proj": "self_attn.o_proj",
    "norm2": "post_attention_layernorm",
    "feed_forward.linear1": "mlp.gate_proj",
    "feed_forward.gate_proj": "mlp.up_proj",
    "feed_forward.linear2": "mlp.down_proj",
}
_LLAMA = _Family(
    name="Llama",
    settings=_Llama,
    prefix="model.",
    table="model.embed_tokens",
    positions="",
    layer="model.layers.{}.",
    norm="model.norm",
    names=_LLAMA_NAMES,
    switches={"attention_bias": False, "mlp_bias": False, "pretraining_tp": 1, "rope_interleaved": False},
    ignored=("attention_dropout", "is_llama_config", "pad_token_id", "transformers.js_config"),
    build=_of_llama,
)
# GPT-2 and GPT-Neo give their tensors the same names but for attention.
_OF_GPT: dict[str, Any] = {
    "prefix": "transformer.",
    "table": "transformer.wte",
    "positions": "transformer.wpe",
    "layer": "transformer.h.{}.",
    "norm": "transformer.ln_f",
}
_GPT_LAYER = {
    "norm1": "ln_1",
    "norm2": "ln_2",
    "feed_forward.linear1": "mlp.c_fc",
    "feed_forward.linear2": "mlp.c_proj",
}
FAMILIES = {
    "gpt2": _Family(
        name="GPT-2",
        settings=_GPT2,
        **_OF_GPT,
        names={
            **_GPT_LAYER,
            "self_attn.qkv": "attn.c_attn",
            "self_attn.out_proj": "attn.c_proj",
        },
        switches={
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "reorder_and_upcast_attn": False,
        },
        ignored=("attn_pdrop", "embd_pdrop", "resid_pdrop", "n_ctx", "pad_token_id", "summary_activation")
        + ("summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"),
        build=lambda settings: {"positions": "learned"},
        transposed=True,
    ),
    "gpt_neo": _Family(
        name="GPT-Neo",
        settings=_GPTNeo,
        **_OF_GPT,
        names={
            **_GPT_LAYER,
            **{f"self_attn.{name}": f"attn.attention.{name}" for name in (*_ATTENTION, "out_proj")},
        },
        switches={},
        ignored=("attention_dropout", "embed_dropout", "resid_dropout", "attention_layers", "pad_token_id")
        + ("summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"),
        build=_of_gpt_neo,
    ),
    "opt": _Family(
        name="OPT",
        settings=_OPT,
        prefix="model.",
        table="model.decoder.embed_tokens",
        positions="model.decoder.embed_positions",
        layer="model.decoder.layers.{}.",
        norm="model.decoder.final_layer_norm",
        names={
            "norm1": "self_attn_layer_norm",
            **{f"self_attn.{name}": f"self_attn.{name}" for name in (*_ATTENTION, "out_proj")},
            "norm2": "final_layer_norm",
            "feed_forward.linear1": "fc1",
            "feed_forward.linear2": "fc2",
        },
        switches={
            "do_layer_norm_before": True,
            "_remove_final_layer_norm": False,
            "enable_bias": True,
            "layer_norm_elementwise_affine": True,
        },
        ignored=("attention_dropout", "dropout", "layerdrop", "pad_token_id", "activation_dropout"),
        build=_of_opt,
        skipped_positions=2,
        begins=True,
    ),
    "llama": _LLAMA,
    "qwen2": replace(
        _LLAMA,
        name="Qwen2",
        switches={"use_sliding_window": False},
        ignored=("attention_dropout", "max_window_layers", "sliding_window", "pad_token_id", "use_mrope"),
        build=lambda settings: _of_llama(settings) | {"qkv_bias": True},
    ),
}
"""The families by `model_type` in config.json; DistilGPT-2's is gpt2, TinyStories' gpt_neo, SmolLM2's llama."""


def read_decoder(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read the folder of a model without an encoder."""
    family = FAMILIES[config["model_type"]]
    refuse_languages(languages, family.name)
    known = {*family.settings.__struct_encode_fields__, *family.ignored}
    switches = {"is_encoder_decoder": False, "rope_scaling": None, **family.switches}
    check_keys(config, known, switches, family.name)
    settings: Any = settings_of({k: v for k, v in config.items() if v is not None}, family.settings, CONFIG)
    if settings.activation not in _ACTIVATIONS:
        raise ImportFailed(
            "{config} has the activation {activation:.40}; known: {activations}.",
            config=CONFIG,
            activation=repr(settings.activation),
            activations=", ".join(_ACTIVATIONS),
        )
    tokenizer, vocabulary = _read_tokenizer(folder, settings, family)
    search, banned, _, remarks = read_search(folder, {**config, "forced_bos_token_id": None}, vocabulary)
    ledger = Ledger(folder.weights(), prefix=family.prefix)
    for name in [name for name in ledger.left if _BUFFERS.search(name)]:
        ledger.use(name)
    sizes = ("d_model", "n_decoder_layers", "n_decoder_heads", "max_positions", "norm_epsilon")
    n_entries = len(vocabulary.rows)
    built = family.build(settings)
    model = ModelConfig(
        architecture="decoder",
        separator=False,
        src_vocab_size=n_entries,
        tgt_vocab_size=n_entries,
        share_embeddings="target" if settings.tie_word_embeddings else "none",
        d_ff=settings.d_ff or 4 * settings.d_model,
        activation=_ACTIVATIONS[settings.activation],  # type: ignore[arg-type]
        dropout=0.0,
        norm_first=True,
        scale_embeddings=False,
        banned_tokens=tuple(sorted({*banned, UNK})),
        **{name: getattr(settings, name) for name in sizes if hasattr(settings, name)} | built,
    )
    if model.max_positions < settings.max_positions:
        remarks.append(
            f"Some of its layers see the last {model.max_positions} tokens alone; it reads no longer texts here, "
            "so that every layer sees all of them."
        )
    _set_tables(ledger, family, model, vocabulary)
    for i in range(model.n_decoder_layers):
        _set_layer(ledger, family, model, i)
    _set(ledger, "decoder.norm", family.norm)
    return assembled(
        folder,
        ledger,
        family.name,
        model,
        (tokenizer, tokenizer),
        search,
        changes="The ids of its tokens are in another order than in the imported files, and its token of the end is "
        "there for padding and for the start as well; its results are the same.",
        remarks=(*ledger.remarks, *remarks),
    )


def _read_tokenizer(
    folder: SourceFolder, settings: _Settings, family: _Family
) -> tuple[ByteLevelTokenizer, Vocabulary]:
    """The tokenizer, and the vocabulary in our order: the token of the end takes the places of all special tokens.

    Only <sos> is a copy of the token that a text begins with, if the model has one.
    """
    ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
    eos, size = ends[0], settings.vocab_size
    adds = folder.optional_json(TOKENIZER).get("add_bos_token", family.begins)
    pairs = read_byte_pairs(folder, SPECIALS[SOS] if adds else "", "")
    if len(pairs.names) > size or not all(type(i) is int and 0 <= i < size for i in pairs.names.values()):
        raise ImportFailed(
            "{file} has entries beyond the {size} rows of {config}.", file=pairs.file, size=size, config=CONFIG
        )
    begin = pairs.names.get(pairs.begin, settings.bos_token_id) if pairs.begin else settings.bos_token_id
    if not all(type(i) is int and i < size for i in (eos, begin if begin is not None else eos)):
        raise ImportFailed(
            "{config} names a token for the start or the end beyond its {size} rows.", config=CONFIG, size=size
        )
    rest = [i for i in range(size) if i != eos]
    names: dict[int, str] = {i: name for name, i in pairs.names.items()}
    pieces = spellings(names, rest, pairs.file)
    tokenizer = ByteLevelTokenizer(
        pieces,
        pairs.merges,
        begin=SPECIALS[SOS] if pairs.begin else "",
        prefix_space=pairs.prefix_space,
        split=pairs.split,
    )
    return tokenizer, Vocabulary((eos, eos if begin is None else begin, eos, eos, *rest), pieces)


def _set(ledger: Ledger, ours: str, theirs: str, *, transposed: bool = False) -> None:
    """Set weight and bias of a module, if it has one."""
    weight, bias = ledger.take(f"{theirs}.weight"), ledger.take_optional(f"{theirs}.bias")
    ledger.parameters[f"{ours}.weight"] = weight.t().contiguous() if transposed else weight
    if bias is not None:
        ledger.parameters[f"{ours}.bias"] = bias


def _set_tables(ledger: Ledger, family: _Family, model: ModelConfig, vocabulary: Vocabulary) -> None:
    """Set embeddings, output projection and learned positions.

    Raises:
        ImportFailed: a table has too few rows, or two differ that config.json says are one.
    """
    embedding, order = f"{family.table}.weight", torch.arange(model.d_model)
    set_table(ledger, "tgt_embedding", embedding, vocabulary.rows, order)
    if model.share_embeddings == "none":
        set_table(ledger, "output", "lm_head.weight", vocabulary.rows, order)
    elif ledger.use("lm_head.weight") and not ledger.same("lm_head.weight", embedding):
        raise ImportFailed("lm_head.weight differs from the embedding, though config.json says that they are one.")
    if family.positions:
        first = family.skipped_positions
        table = ledger.take(f"{family.positions}.weight")[first : first + model.max_positions]
        ledger.parameters["positions_tgt.embedding.weight"] = table.contiguous()


def _set_layer(ledger: Ledger, family: _Family, model: ModelConfig, i: int) -> None:
    """Set the modules of one layer."""
    own, their = f"decoder.layers.{i}.", family.layer.format(i)
    for ours, theirs in family.names.items():
        if ours == "self_attn.qkv":
            weight, bias = ledger.take(f"{their}{theirs}.weight"), ledger.take(f"{their}{theirs}.bias")
            for n, name in enumerate(_ATTENTION):
                ledger.parameters[f"{own}self_attn.{name}.weight"] = weight.T.chunk(3)[n].contiguous()
                ledger.parameters[f"{own}self_attn.{name}.bias"] = bias.chunk(3)[n].clone()
        else:
            _set(ledger, own + ours, their + theirs, transposed=family.transposed and "norm" not in ours)
        if model.bias and f"{own}{ours}.bias" not in ledger.parameters and ours != "self_attn.qkv":
            ledger.parameters[f"{own}{ours}.bias"] = torch.zeros(len(ledger.parameters[f"{own}{ours}.weight"]))
