"""The families of models that can be imported: a row for each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from model.importing.family import (
    Family,
    fairseq_sinusoids,
    of_bart,
    of_gpt_neo,
    of_llama,
    of_opt,
    of_t5,
    without_encoder,
)
from model.importing.texts import bart_texts, fairseq_texts, google_texts, marian_texts, prompt_texts


def _pairs(text: str) -> dict[str, str]:
    """Our names with theirs, which are written as `ours=theirs`."""
    return dict(pair.split("=") for pair in text.split())


def _block(ours: str, theirs: str, letters: str = "") -> dict[str, str]:
    """The four projections of an attention block; `letters` are their names in T5."""
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    return {f"{ours}.{name}": f"{theirs}.{letter}" for name, letter in zip(names, letters or names, strict=True)}


_BART_LAYER = {
    **_block("self_attn", "self_attn"),
    "norm1": "self_attn_layer_norm",
    "norm2": "final_layer_norm",
    "feed_forward.linear1": "fc1",
    "feed_forward.linear2": "fc2",
}
_BART = Family(
    name="BART",
    sizes=_pairs(
        "d_model=d_model d_ff=encoder_ffn_dim n_encoder_layers=encoder_layers "
        "n_decoder_layers=decoder_layers n_encoder_heads=encoder_attention_heads "
        "n_decoder_heads=decoder_attention_heads max_positions=max_position_embeddings "
        "activation=activation_function dropout=dropout attention_dropout=attention_dropout "
        "activation_dropout=activation_dropout scale_embeddings=scale_embedding"
    ),
    known=("decoder_ffn_dim",),
    defaults={"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2},
    switches={
        "normalize_before": False,
        "add_final_layer_norm": False,
        "normalize_embedding": True,
        "static_position_embeddings": False,
        "add_bias_logits": False,
        "extra_pos_embeddings": 2,
    },
    texts=bart_texts,
    build=partial(of_bart, positions="learned", norm_embeddings=True),
    layer="model.{stack}.layers.{i}.",
    names={
        "encoder": _BART_LAYER,
        "decoder": {
            **_BART_LAYER,
            **_block("cross_attn", "encoder_attn"),
            "norm2": "encoder_attn_layer_norm",
            "norm3": "final_layer_norm",
        },
    },
    others={
        ours.format(side): f"model.{stack}.{theirs}"
        for side, stack in (("src", "encoder"), ("tgt", "decoder"))
        for ours, theirs in (
            ("positions_{}.embedding", "embed_positions"),
            ("norm_{}", "layernorm_embedding"),
            (f"{stack}.norm", "layer_norm"),
        )
    },
    skipped_positions=2,  # fairseq counts from the id after padding
)
_MARIAN = replace(
    _BART,
    name="MarianMT",
    known=("decoder_ffn_dim", "share_encoder_decoder_embeddings", "decoder_vocab_size"),
    defaults={},
    switches={"normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": False},
    ignored=("static_position_embeddings", "add_bias_logits"),
    texts=marian_texts,
    build=of_bart,
    interleaved=True,
    licence="CC-BY-4.0",
)
_MBART = replace(
    _BART,
    name="mBART",
    defaults={"pad_token_id": 1, "eos_token_id": 2},
    switches={**_BART.switches, "normalize_before": True, "add_final_layer_norm": True},
    texts=partial(fairseq_texts, mbart=True),
    build=partial(of_bart, positions="learned", norm_embeddings=True, norm_first=True),
    has_languages=True,
)
_T5 = Family(
    name="T5",
    sizes=_pairs(
        "d_model=d_model head_width=d_kv d_ff=d_ff n_encoder_layers=num_layers n_encoder_heads=num_heads "
        "relative_buckets=relative_attention_num_buckets "
        "relative_distance=relative_attention_max_distance norm_epsilon=layer_norm_epsilon "
        "dropout=dropout_rate max_positions=n_positions"
    ),
    known=("num_decoder_layers", "feed_forward_proj", "scale_decoder_outputs"),
    defaults={
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
        "layer_norm_epsilon": 1e-6,
        "n_positions": 512,
    },
    ignored=("dense_act_fn", "is_gated_act"),
    texts=partial(google_texts, pegasus=False),
    build=of_t5,
    prefix="",
    layer="{stack}.block.{i}.layer.",
    names={
        stack: {
            **_block("self_attn", "0.SelfAttention", "qkvo"),
            **(_block("cross_attn", "1.EncDecAttention", "qkvo") if last == 2 else {}),
            **{f"norm{n + 1}": f"{n}.layer_norm" for n in range(last + 1)},
            "feed_forward.linear1": f"{last}.DenseReluDense.wi|{last}.DenseReluDense.wi_0",
            "feed_forward.gate_proj": f"{last}.DenseReluDense.wi_1",
            "feed_forward.linear2": f"{last}.DenseReluDense.wo",
        }
        for stack, last in (("encoder", 1), ("decoder", 2))
    },
    others={
        "positions_src.relative.embedding": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
        "positions_tgt.relative.embedding": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
        "encoder.norm": "encoder.final_layer_norm",
        "decoder.norm": "decoder.final_layer_norm",
    },
    tied_by_file=True,
    # Version 1.0 and its kin scale the logits, version 1.1 and Flan-T5 do not.
    has_scaled_logits=lambda settings: (
        settings.tie_word_embeddings if settings.scale_decoder_outputs is None else settings.scale_decoder_outputs
    ),
)
_ALONE = {"is_encoder_decoder": False, "rope_scaling": None}
_SUMMARY = ("summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj")
_GPT_LAYER = {
    "norm1": "ln_1",
    "norm2": "ln_2",
    "feed_forward.linear1": "mlp.c_fc",
    "feed_forward.linear2": "mlp.c_proj",
}
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
    ignored=("attn_pdrop", "embd_pdrop", "resid_pdrop", "n_ctx", *_SUMMARY),
    texts=prompt_texts,
    build=without_encoder,
    prefix="transformer.",
    table="transformer.wte",
    layer="transformer.h.{i}.",
    names={
        "decoder": {
            **_GPT_LAYER,
            **{f"self_attn.{name}_proj": f"attn.c_attn:{n}" for n, name in enumerate("qkv")},
            "self_attn.out_proj": "attn.c_proj",
        }
    },
    others={"positions_tgt.embedding": "transformer.wpe", "decoder.norm": "transformer.ln_f"},
    transposed=True,
)
_RECENT = _pairs(
    "d_model=hidden_size n_decoder_layers=num_hidden_layers n_decoder_heads=num_attention_heads "
    "max_positions=max_position_embeddings"
)
_LLAMA = Family(
    name="Llama",
    sizes={**_RECENT, "d_ff": "intermediate_size", "activation": "hidden_act", "norm_epsilon": "rms_norm_eps"},
    known=("num_key_value_heads", "head_dim", "rope_theta", "rope_parameters", "layer_types"),
    defaults={"pad_token_id": 0, "hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False},
    switches={**_ALONE, "attention_bias": False, "mlp_bias": False, "pretraining_tp": 1, "rope_interleaved": False},
    ignored=("attention_dropout", "is_llama_config", "transformers.js_config"),
    texts=prompt_texts,
    build=of_llama,
    table="model.embed_tokens",
    layer="model.layers.{i}.",
    names={
        "decoder": {
            **_block("self_attn", "self_attn"),
            "self_attn.out_proj": "self_attn.o_proj",
            "norm1": "input_layernorm",
            "norm2": "post_attention_layernorm",
            "feed_forward.linear1": "mlp.gate_proj",
            "feed_forward.gate_proj": "mlp.up_proj",
            "feed_forward.linear2": "mlp.down_proj",
        }
    },
    others={"decoder.norm": "model.norm"},
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
        build=partial(of_bart, positions="learned", norm_first=True),
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
        build=partial(of_bart, norm_first=True),
        interleaved=True,
    ),
    "t5": _T5,
    "mt5": replace(_T5, name="mT5", has_scaled_logits=lambda settings: False),
    "gpt2": _GPT2,
    "gpt_neo": replace(
        _GPT2,
        name="GPT-Neo",
        sizes={
            **_GPT2.sizes,
            **_pairs(
                "d_model=hidden_size n_decoder_layers=num_layers n_decoder_heads=num_heads "
                "max_positions=max_position_embeddings d_ff=intermediate_size"
            ),
        },
        known=("window_size", "attention_types"),
        switches=_ALONE,
        ignored=("attention_dropout", "embed_dropout", "resid_dropout", "attention_layers", *_SUMMARY),
        build=of_gpt_neo,
        names={"decoder": {**_GPT_LAYER, **_block("self_attn", "attn.attention")}},
        unbiased=tuple(f"self_attn.{name}_proj" for name in "qkv"),
        transposed=False,
    ),
    "opt": Family(
        name="OPT",
        sizes={**_RECENT, "d_ff": "ffn_dim", "activation": "activation_function"},
        known=("word_embed_proj_dim",),
        defaults={"pad_token_id": 0, "activation_function": "relu"},
        switches={
            **_ALONE,
            "do_layer_norm_before": True,
            "_remove_final_layer_norm": False,
            "enable_bias": True,
            "layer_norm_elementwise_affine": True,
        },
        ignored=("attention_dropout", "dropout", "layerdrop", "activation_dropout"),
        texts=partial(prompt_texts, begins=True),
        build=of_opt,
        table="model.decoder.embed_tokens",
        layer=_BART.layer,
        names={"decoder": _BART_LAYER},
        others={
            "positions_tgt.embedding": "model.decoder.embed_positions",
            "decoder.norm": "model.decoder.final_layer_norm",
        },
        skipped_positions=2,
    ),
    "llama": _LLAMA,
    "qwen2": replace(
        _LLAMA,
        name="Qwen2",
        switches={**_ALONE, "use_sliding_window": False},
        ignored=("attention_dropout", "max_window_layers", "sliding_window", "use_mrope"),
        build=partial(of_llama, qkv_bias=True),
    ),
}
"""The families by `model_type` in config.json.

NLLB's type is m2m_100, Flan-T5's t5, DistilGPT-2's gpt2, TinyStories' gpt_neo, SmolLM2's llama.
"""
