"""The families of models that can be imported: a row for each."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from model.importing.family import Family
from model.importing.texts import bart_texts, fairseq_texts, google_texts, marian_texts, prompt_texts

ACTIVATIONS = {
    **{name: name for name in ("relu", "gelu", "silu")},
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "swish": "silu",
}


def _pairs(text: str) -> dict[str, str]:
    """Our names with theirs, which are written as `ours=theirs`."""
    return dict(pair.split("=") for pair in text.split())


def _of_t5(settings: Any) -> dict[str, Any]:
    name = settings.feed_forward_proj.removeprefix("gated-")
    gated = name != settings.feed_forward_proj
    return {
        "n_decoder_layers": settings.num_decoder_layers or settings.n_encoder_layers,
        "n_decoder_heads": settings.n_encoder_heads,
        "attention_dropout": settings.dropout,
        "activation_dropout": settings.dropout,
        # GELU as in all published models, in spite of its name.
        "activation": "gelu_tanh" if gated and name == "gelu" else ACTIVATIONS[name],
        "feed_forward": "gated" if gated else "plain",
    }


def _of_gpt_neo(settings: Any) -> dict[str, Any]:
    """No text is longer than the window of a layer, if there is one."""
    has_windows = any("local" in kinds for kinds, n in settings.attention_types if n)
    return {"max_positions": min(settings.window_size, settings.max_positions)} if has_windows else {}


def _of_llama(settings: Any) -> dict[str, Any]:
    heads = settings.n_decoder_heads
    width, keys = settings.head_dim or settings.d_model // heads, settings.num_key_value_heads or heads
    return {
        "rope_base": settings.rope_theta,
        "head_width": 0 if width * heads == settings.d_model else width,
        "key_value_heads": 0 if keys == heads else keys,
    }


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


_BART_LAYER = _pairs(
    "cross_attn=encoder_attn feed_forward.linear1=fc1 feed_forward.linear2=fc2 norm1=self_attn_layer_norm "
    "encoder.norm2=final_layer_norm decoder.norm2=encoder_attn_layer_norm norm3=final_layer_norm"
)
_BART = Family(
    name="BART",
    sizes=_pairs(
        "d_model=d_model d_ff=encoder_ffn_dim n_encoder_layers=encoder_layers "
        "n_decoder_layers=decoder_layers n_encoder_heads=encoder_attention_heads "
        "n_decoder_heads=decoder_attention_heads max_positions=max_position_embeddings "
        "activation=activation_function dropout=dropout attention_dropout=attention_dropout "
        "activation_dropout=activation_dropout scale_embeddings=scale_embedding"
    ),
    defaults={"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2},
    switches={
        "normalize_before": False,
        "add_final_layer_norm": False,
        "normalize_embedding": True,
        "static_position_embeddings": False,
        "add_bias_logits": False,
        "extra_pos_embeddings": 2,
    },
    equal={"decoder_ffn_dim": "encoder_ffn_dim"},
    words={"activation_function": tuple(ACTIVATIONS)},
    texts=bart_texts,
    model={"positions": "learned", "norm_embeddings": True},
    layer="model.{stack}.layers.{i}.",
    names=_BART_LAYER
    | _pairs(
        "positions_src.embedding=model.encoder.embed_positions positions_tgt.embedding=model.decoder.embed_positions "
        "norm_src=model.encoder.layernorm_embedding norm_tgt=model.decoder.layernorm_embedding "
        "encoder.norm=model.encoder.layer_norm decoder.norm=model.decoder.layer_norm"
    ),
    skipped_positions=2,  # fairseq counts from the id after padding
)
_MARIAN = replace(
    _BART,
    name="MarianMT",
    known=("share_encoder_decoder_embeddings", "decoder_vocab_size"),
    defaults={},
    switches={"normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": False},
    ignored=("static_position_embeddings", "add_bias_logits"),
    texts=marian_texts,
    model={},
    interleaved=True,
    licence="CC-BY-4.0",
)
_MBART = replace(
    _BART,
    name="mBART",
    defaults={"pad_token_id": 1, "eos_token_id": 2},
    switches={**_BART.switches, "normalize_before": True, "add_final_layer_norm": True},
    texts=partial(fairseq_texts, mbart=True),
    model={"positions": "learned", "norm_embeddings": True, "norm_first": True},
    has_languages=True,
)
_T5 = Family(
    name="T5",
    sizes=_pairs(
        "d_model=d_model head_width=d_kv d_ff=d_ff n_encoder_layers=num_layers n_encoder_heads=num_heads "
        "relative_buckets=relative_attention_num_buckets relative_distance=relative_attention_max_distance "
        "norm_epsilon=layer_norm_epsilon dropout=dropout_rate max_positions=n_positions"
    ),
    known=("num_decoder_layers", "scale_decoder_outputs"),
    defaults={
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        "layer_norm_epsilon": 1e-6,
        "n_positions": 512,
    },
    words={"feed_forward_proj": (*ACTIVATIONS, *(f"gated-{name}" for name in ACTIVATIONS))},
    ignored=("dense_act_fn", "is_gated_act"),
    texts=partial(google_texts, pegasus=False),
    model={
        "norm_first": True,
        "layer_norm": "rms",
        "bias": False,
        "positions": "relative",
        "scale_scores": False,
        "scale_embeddings": False,
    },
    build=_of_t5,
    prefix="",
    table="shared",
    layer="{stack}.block.{i}.layer.",
    names=_pairs(
        "self_attn=0.SelfAttention cross_attn=1.EncDecAttention q_proj=q k_proj=k v_proj=v out_proj=o "
        "norm1=0.layer_norm norm2=1.layer_norm norm3=2.layer_norm encoder.feed_forward=1.DenseReluDense "
        "decoder.feed_forward=2.DenseReluDense linear1=wi{gate} gate_proj=wi_1 linear2=wo "
        "positions_src.relative.embedding=encoder.block.0.layer.0.SelfAttention.relative_attention_bias "
        "positions_tgt.relative.embedding=decoder.block.0.layer.0.SelfAttention.relative_attention_bias "
        "encoder.norm=encoder.final_layer_norm decoder.norm=decoder.final_layer_norm"
    ),
    tied_by_file=True,
    # Version 1.0 and its kin scale the logits, version 1.1 and Flan-T5 do not.
    has_scaled_logits=lambda settings: (
        settings.tie_word_embeddings if settings.scale_decoder_outputs is None else settings.scale_decoder_outputs
    ),
)
_ALONE = {"is_encoder_decoder": False, "rope_scaling": None}
_CONTINUES = {
    "architecture": "decoder",
    "separator": False,
    "norm_first": True,
    "scale_embeddings": False,
    "dropout": 0.0,
    "positions": "learned",
}
_SUMMARY = ("summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj")
_GPT2 = Family(
    name="GPT-2",
    sizes=_pairs(
        "d_model=n_embd n_decoder_layers=n_layer n_decoder_heads=n_head d_ff=n_inner "
        "max_positions=n_positions activation=activation_function norm_epsilon=layer_norm_epsilon"
    ),
    defaults={"pad_token_id": 0, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5},
    switches={
        **_ALONE,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "reorder_and_upcast_attn": False,
    },
    words=_BART.words,
    ignored=("attn_pdrop", "embd_pdrop", "resid_pdrop", "n_ctx", *_SUMMARY),
    texts=prompt_texts,
    model=_CONTINUES,
    prefix="transformer.",
    table="transformer.wte",
    layer="transformer.h.{i}.",
    names=_pairs(
        "norm1=ln_1 norm2=ln_2 self_attn=attn q_proj=c_attn:0 k_proj=c_attn:1 v_proj=c_attn:2 out_proj=c_proj "
        "feed_forward=mlp linear1=c_fc linear2=c_proj "
        "positions_tgt.embedding=transformer.wpe decoder.norm=transformer.ln_f"
    ),
    transposed=True,
)
_RECENT = _pairs(
    "d_model=hidden_size n_decoder_layers=num_hidden_layers n_decoder_heads=num_attention_heads "
    "max_positions=max_position_embeddings"
)
_LLAMA = Family(
    name="Llama",
    sizes=_RECENT | _pairs("d_ff=intermediate_size activation=hidden_act norm_epsilon=rms_norm_eps"),
    known=("num_key_value_heads", "head_dim", "rope_theta"),
    defaults={"pad_token_id": 0, "hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False},
    switches={
        **_ALONE,
        "attention_bias": False,
        "mlp_bias": False,
        "pretraining_tp": 1,
        "rope_interleaved": False,
        "rope_type": "default",
    },
    words={"hidden_act": tuple(ACTIVATIONS), "layer_types": ("full_attention",)},
    ignored=("attention_dropout", "is_llama_config", "transformers.js_config"),
    texts=prompt_texts,
    model={
        **_CONTINUES,
        "positions": "rope",
        "rope_halves": True,
        "layer_norm": "rms",
        "bias": False,
        "feed_forward": "gated",
    },
    build=_of_llama,
    table="model.embed_tokens",
    layer="model.layers.{i}.",
    names=_pairs(
        "out_proj=o_proj norm1=input_layernorm norm2=post_attention_layernorm "
        "feed_forward=mlp linear1=gate_proj gate_proj=up_proj linear2=down_proj decoder.norm=model.norm"
    ),
)
FAMILIES = {
    "marian": _MARIAN,
    "bart": _BART,
    "mbart": _MBART,
    "m2m_100": replace(
        _MBART,
        name="M2M100",
        switches={**_MBART.switches, "normalize_embedding": False},
        texts=partial(fairseq_texts, mbart=False),
        model={"positions": "learned", "norm_first": True},
        computed_positions=lambda model, settings: fairseq_sinusoids(
            model.max_positions, model.d_model, settings.pad_token_id + 1
        ),
    ),
    "pegasus": replace(
        _BART,
        name="Pegasus",
        defaults={"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0},
        switches={
            "normalize_before": True,
            "add_final_layer_norm": True,
            "normalize_embedding": False,
            "static_position_embeddings": True,
            "add_bias_logits": False,
        },
        ignored=("extra_pos_embeddings",),
        texts=partial(google_texts, pegasus=True),
        model={"norm_first": True},
        interleaved=True,
    ),
    "t5": _T5,
    "mt5": replace(_T5, name="mT5", has_scaled_logits=lambda settings: False),
    "gpt2": _GPT2,
    "gpt_neo": replace(
        _GPT2,
        name="GPT-Neo",
        sizes={**_GPT2.sizes}
        | _pairs(
            "d_model=hidden_size n_decoder_layers=num_layers n_decoder_heads=num_heads "
            "max_positions=max_position_embeddings d_ff=intermediate_size"
        ),
        known=("window_size",),
        switches=_ALONE,
        words={**_BART.words, "attention_types": ("global", "local")},
        ignored=("attention_dropout", "embed_dropout", "resid_dropout", "attention_layers", *_SUMMARY),
        model={**_CONTINUES, "scale_scores": False},
        build=_of_gpt_neo,
        names={**_GPT2.names}
        | _pairs("self_attn=attn.attention q_proj=q_proj k_proj=k_proj v_proj=v_proj out_proj=out_proj"),
        unbiased=("q_proj", "k_proj", "v_proj"),
        transposed=False,
    ),
    "opt": Family(
        name="OPT",
        sizes=_RECENT | _pairs("d_ff=ffn_dim activation=activation_function"),
        defaults={"pad_token_id": 0, "activation_function": "relu"},
        switches={
            **_ALONE,
            "do_layer_norm_before": True,
            "_remove_final_layer_norm": False,
            "enable_bias": True,
            "layer_norm_elementwise_affine": True,
        },
        equal={"word_embed_proj_dim": "hidden_size"},
        words=_BART.words,
        ignored=("attention_dropout", "dropout", "layerdrop", "activation_dropout"),
        texts=partial(prompt_texts, begins=True),
        model=_CONTINUES,
        table="model.decoder.embed_tokens",
        layer=_BART.layer,
        names=_BART_LAYER
        | _pairs(
            "positions_tgt.embedding=model.decoder.embed_positions decoder.norm2=final_layer_norm "
            "decoder.norm=model.decoder.final_layer_norm"
        ),
        skipped_positions=2,
    ),
    "llama": _LLAMA,
    "qwen2": replace(
        _LLAMA,
        name="Qwen2",
        switches={**_ALONE, "use_sliding_window": False, "rope_type": "default"},
        ignored=("attention_dropout", "max_window_layers", "sliding_window", "use_mrope"),
        model={**_LLAMA.model, "qkv_bias": True},
    ),
}
"""The families by `model_type` in config.json.

NLLB's type is m2m_100, Flan-T5's t5, DistilGPT-2's gpt2, TinyStories' gpt_neo, SmolLM2's llama.
"""
