"""Import T5 (Raffel et al. 2020), T5 v1.1, Flan-T5 and mT5: relative position biases, RMS norms and no biases."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from msgspec import Meta, Struct

from model.config import ModelConfig
from model.importing.config_keys import check_keys
from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import CONFIG, PIECES, TOKENIZER, TOKENIZERS, ImportFailed, SourceFolder, settings_of
from model.importing.translator import Heads, Id, ImportedTranslator, Layers, Rows, Units, Width, read_search, reorder
from model.importing.weights import Ledger, assembled, set_tables, use_tables
from model.text.sentencepiece import SentencePieceTokenizer, read_piece_model, read_piece_names

_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "silu": "silu"}
_FEED_FORWARD = {
    **{name: ("plain", ours) for name, ours in _ACTIVATIONS.items()},
    **{f"gated-{name}": ("gated", ours) for name, ours in _ACTIVATIONS.items()},
    "gated-gelu": ("gated", "gelu_tanh"),  # as in all published models, in spite of its name
}
_BLOCKS = {
    "encoder": (("self_attn", "SelfAttention"),),
    "decoder": (("self_attn", "SelfAttention"), ("cross_attn", "EncDecAttention")),
}
_PROJECTIONS = {"q_proj": "q", "k_proj": "k", "v_proj": "v", "out_proj": "o"}
_DENSE = {
    "plain": {"linear1": "wi", "linear2": "wo"},
    "gated": {"linear1": "wi_0", "gate_proj": "wi_1", "linear2": "wo"},
}
_END, _UNK = "</s>", "<unk>"


class _Settings(Struct, kw_only=True):
    d_model: Width
    d_kv: Units
    d_ff: Units
    num_layers: Layers
    num_decoder_layers: Layers | None = None
    num_heads: Heads
    vocab_size: Rows
    feed_forward_proj: str = "relu"
    relative_attention_num_buckets: Annotated[int, Meta(ge=4, le=4096)] = 32
    relative_attention_max_distance: Annotated[int, Meta(ge=2, le=65_536)] = 128
    layer_norm_epsilon: Annotated[float, Meta(gt=0, lt=1)] = 1e-6
    dropout_rate: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    n_positions: Annotated[int, Meta(ge=2, le=65_536)] = 512
    pad_token_id: Id = 0
    eos_token_id: Id = 1
    decoder_start_token_id: Id = 0


_DERIVED = ("dense_act_fn", "is_gated_act", "scale_decoder_outputs", "tie_word_embeddings")


def read_t5(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read a T5 folder; version 1.0 and its kin scale the logits, version 1.1 and Flan-T5 do not."""
    scaled = config.get("scale_decoder_outputs")
    return _read(
        folder,
        config,
        languages,
        scaled=config.get("tie_word_embeddings") is not False if scaled is None else bool(scaled),
    )


def read_mt5(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read an mT5 folder."""
    return _read(folder, config, languages, scaled=False)


def _read(folder: SourceFolder, config: dict[str, Any], languages: Languages, *, scaled: bool) -> ImportedTranslator:
    family = "mT5" if config.get("model_type") == "mt5" else "T5"
    refuse_languages(languages, family)
    check_keys(config, {*_Settings.__struct_fields__, *_DERIVED}, {}, family)
    settings = settings_of({k: v for k, v in config.items() if v is not None}, _Settings, CONFIG)
    if settings.feed_forward_proj not in _FEED_FORWARD:
        raise ImportFailed(
            "{config} has feed_forward_proj={feed_forward_proj:.40}; known: {feed_forward}.",
            config=CONFIG,
            feed_forward_proj=repr(settings.feed_forward_proj),
            feed_forward=", ".join(_FEED_FORWARD),
        )
    feed_forward, activation = _FEED_FORWARD[settings.feed_forward_proj]

    content = folder.read(PIECES)
    names = {piece: i for i, piece in enumerate(read_piece_names(content, PIECES))}
    names |= _sentinels(folder, len(names), settings.vocab_size)
    vocabulary = reorder(
        names,
        settings.vocab_size,
        pad=settings.pad_token_id,
        start=settings.decoder_start_token_id,
        eos=_END,
        unk=_UNK,
        file=PIECES,
    )
    if names[_END] != settings.eos_token_id:
        raise ImportFailed(
            "{config} ends sentences with id {eos_token_id}, but {pieces} with {names}.",
            config=CONFIG,
            eos_token_id=settings.eos_token_id,
            pieces=PIECES,
            names=names[_END],
        )
    search, banned, first, remarks = read_search(folder, config, vocabulary)
    ledger = Ledger(folder.weights(), prefix="")
    tables = use_tables(ledger, prefix="", tied="lm_head.weight" not in ledger.names, one_vocabulary=True)
    model = ModelConfig(
        src_vocab_size=len(vocabulary.rows),
        tgt_vocab_size=len(vocabulary.rows),
        d_model=settings.d_model,
        head_width=settings.d_kv,
        d_ff=settings.d_ff,
        n_encoder_layers=settings.num_layers,
        n_decoder_layers=settings.num_decoder_layers or settings.num_layers,
        n_encoder_heads=settings.num_heads,
        n_decoder_heads=settings.num_heads,
        dropout=settings.dropout_rate,
        attention_dropout=settings.dropout_rate,
        activation_dropout=settings.dropout_rate,
        activation=activation,  # type: ignore[arg-type]
        feed_forward=feed_forward,  # type: ignore[arg-type]
        norm_first=True,
        layer_norm="rms",
        norm_epsilon=settings.layer_norm_epsilon,
        bias=False,
        positions="relative",
        relative_buckets=settings.relative_attention_num_buckets,
        relative_distance=settings.relative_attention_max_distance,
        max_positions=settings.n_positions,
        share_embeddings=tables.shared,  # type: ignore[arg-type]
        scale_scores=False,
        scale_embeddings=False,
        banned_tokens=banned,
        first_token=first,
    )
    order = torch.arange(model.d_model)
    set_tables(ledger, tables, vocabulary.rows, vocabulary.rows, order)
    for side, stack in (("src", "encoder"), ("tgt", "decoder")):
        _set_stack(
            ledger, stack, side, model, output_factor=model.d_model**-0.5 if scaled and stack == "decoder" else 1
        )
    if scaled:
        remarks.append(
            "Its logits are scaled by 1/√d_model, which is part of the scale of the decoder's last norm here."
        )
    tokenizer = SentencePieceTokenizer(vocabulary.pieces, read_piece_model(content, PIECES), lang="xx")
    return assembled(folder, ledger, family, model, (tokenizer, tokenizer), search, remarks=(*ledger.remarks, *remarks))


def _sentinels(folder: SourceFolder, n_pieces: int, size: int) -> dict[str, int]:
    """The ids of T5's tokens for gaps, ``<extra_id_0>`` and so on: after the pieces, the last first."""
    settings = folder.optional_json(TOKENIZER)
    number = settings.get("extra_ids", 0 if folder.has(TOKENIZERS) or not settings else 100)
    if type(number) is not int or not 0 <= number <= size - n_pieces:
        return {}
    return {f"<extra_id_{number - 1 - n}>": n_pieces + n for n in range(number)}


def _set_stack(ledger: Ledger, stack: str, side: str, model: ModelConfig, *, output_factor: float) -> None:
    """Set the layers of the encoder or decoder, its relative biases, and its last norm times `output_factor`."""
    blocks = _BLOCKS[stack]
    bias = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    ledger.parameters[f"positions_{side}.relative.embedding.weight"] = ledger.take(bias)
    names = {f"norm{n + 1}": f"{n}.layer_norm" for n in range(len(blocks) + 1)}
    for n, (block, their) in enumerate(blocks):
        names |= {f"{block}.{name}": f"{n}.{their}.{letter}" for name, letter in _PROJECTIONS.items()}
    for name, their in _DENSE[model.feed_forward].items():
        names[f"feed_forward.{name}"] = f"{len(blocks)}.DenseReluDense.{their}"
    for i in range(model.n_encoder_layers if stack == "encoder" else model.n_decoder_layers):
        layer = f"{stack}.block.{i}.layer"
        for name, their in names.items():
            ledger.parameters[f"{stack}.layers.{i}.{name}.weight"] = ledger.take(f"{layer}.{their}.weight")
        # The decoder of some old files has a bias in its first cross-attention, which no model reads.
        ledger.use(f"{layer}.1.EncDecAttention.relative_attention_bias.weight")
    norm = ledger.take(f"{stack}.final_layer_norm.weight")
    ledger.parameters[f"{stack}.norm.weight"] = norm * output_factor
