"""How a family of models differs from others, and the check of its settings in config.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from torch import Tensor

from model.config import ModelConfig
from model.importing.languages import Languages
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder, settings_of
from model.importing.texts import Texts

_Width = Annotated[int, Meta(ge=2, le=16_384)]
_Units = Annotated[int, Meta(ge=1, le=2**18)]
_Heads = Annotated[int, Meta(ge=1, le=16_384)]
_Layers = Annotated[int, Meta(ge=1, le=64)]
_Positions = Annotated[int, Meta(ge=2, le=10**6)]
_Rate = Annotated[float, Meta(ge=0, lt=1)]
_Rows = Annotated[int, Meta(ge=4, le=2**31)]
_Id = Annotated[int, Meta(ge=0, le=2**31)]
_SIZES: dict[str, tuple[Any, ...]] = {
    "d_model": (_Width,), "d_ff": (_Units | None, None), "n_encoder_layers": (_Layers,), "n_decoder_layers": (_Layers,),
    "n_encoder_heads": (_Heads,), "n_decoder_heads": (_Heads,), "head_width": (_Units,), "max_positions": (_Positions,),
    "activation": (str,), "norm_epsilon": (Annotated[float, Meta(gt=0, lt=1)],), "dropout": (_Rate, 0.0),
    "attention_dropout": (_Rate, 0.0), "activation_dropout": (_Rate, 0.0), "scale_embeddings": (bool, False),
    "relative_buckets": (Annotated[int, Meta(ge=4, le=4096)], 32),
    "relative_distance": (Annotated[int, Meta(ge=2, le=65_536)], 128),
}  # fmt: skip
"""Settings of ModelConfig that have other names in config.json: what is allowed there, and what a missing one means."""


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

    share_encoder_decoder_embeddings: bool = True
    decoder_vocab_size: _Rows | None = None
    num_decoder_layers: _Layers | None = None
    feed_forward_proj: str = "relu"
    scale_decoder_outputs: bool | None = None
    window_size: _Positions = 256
    attention_types: list[tuple[list[str], int]] = []
    num_key_value_heads: _Heads | None = None
    head_dim: _Units | None = None
    rope_theta: Annotated[float, Meta(ge=1, le=10**12)] = 10_000.0


_SWITCHES = {
    "is_encoder_decoder": True,
    "is_decoder": False,
    "add_cross_attention": False,
    "tie_encoder_decoder": False,
    "use_bfloat16": False,
}
"""Switches that have one value in every encoder-decoder."""
_IRRELEVANT = frozenset(
    (
        "architectures", "auto_map", "bad_words_ids", "chunk_size_feed_forward", "classif_dropout",
        "classifier_dropout", "cls_token_id", "decoder_layerdrop", "diversity_penalty", "do_sample", "dtype",
        "early_stopping", "encoder_layerdrop", "encoder_no_repeat_ngram_size", "finetuning_task",
        "force_bos_token_to_be_generated", "forced_bos_token_id", "forced_eos_token_id", "gradient_checkpointing",
        "hidden_size", "id2label", "init_std", "initializer_factor", "initializer_range", "label2id",
        "length_penalty", "max_length", "max_source_length", "max_target_length", "min_length", "model_max_length",
        "model_type", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_hidden_layers", "num_labels",
        "num_return_sequences", "output_attentions", "output_hidden_states", "output_past", "output_scores",
        "prefix", "problem_type", "remove_invalid_values", "repetition_penalty", "return_dict",
        "return_dict_in_generate", "save_step", "sep_token_id", "task_specific_params", "temperature",
        "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript", "transformers_version", "typical_p",
        "use_cache",
    )
)  # fmt: skip
"""Settings of training, search, storage and other uses of a model, which change no logit and no attention weight."""
_IN_A_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.((\w+)(?:\.(\w+))?)")

Values = Mapping[str, Any]
Names = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Family:
    """How a family differs from the others.

    `sizes` are our settings with their names in config.json, `known` further ones that are read, `defaults` what a
    missing one stands for, `switches` those with one allowed value, `equal` those with the value of another one,
    `words` those that consist of known words, `ignored` those without effect on the computation. `model` and `build`
    give further settings of ModelConfig, `texts` reads vocabularies and tokenizers.

    `layer` is the beginning of a layer's tensors, `names` are our modules with their names (see :meth:`module`), and
    `table` is the embedding of a model with one side. Modules that end in one of `unbiased` have no bias, though others
    of the family have; tensors within layers of `transposed` families have their axes the other way round.
    """

    name: str
    sizes: Names
    texts: Callable[[SourceFolder, Any, Languages], Texts]
    model: Values
    build: Callable[[Any], dict[str, Any]] = field(default=lambda settings: {})
    layer: str
    names: Names
    known: tuple[str, ...] = ()
    defaults: Values = field(default_factory=dict)
    switches: Values = field(default_factory=dict)
    equal: Names = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    prefix: str = "model."
    table: str = "model.shared"
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
    def has_encoder(self) -> bool:
        """Whether its models read a source and write a target, rather than continue one text."""
        return self.model.get("architecture") != "decoder"

    def module(self, ours: str, gate: str) -> str:
        """The name of one of our modules in the files; `gate` follows the first layer of a gated feed-forward network.

        In a layer, `names` have the whole module or its two parts, in one stack (`encoder.norm2`) or in both; a part
        that they have not is named alike. `:1` at the end is the second third of a tensor.
        """
        inside = _IN_A_LAYER.fullmatch(ours)
        if inside is None:
            return self.names[ours]
        stack, i, module, block, part = inside.groups()
        whole, first = (self.names.get(f"{stack}.{name}", self.names.get(name, "")) for name in (module, block))
        theirs = whole or f"{first or block}.{self.names.get(part, part)}"
        return f"{self.layer}{theirs}".format(stack=stack, i=i, gate=gate)

    def settings(self, config: Values) -> Any:
        """The settings in config.json; what belongs to rotary positions may be there or in a part of its own.

        Raises:
            ImportFailed: one is missing or not known, or has a value that is not allowed; the message names it.
        """
        rope = config.get("rope_parameters")
        if isinstance(rope, dict):
            lifted = {key: rope[key] for key in ("rope_theta", "rope_type") if rope.get(key) is not None}
            others = {key: value for key, value in rope.items() if key not in ("rope_theta", "rope_type")}
            config = {**config, "rope_parameters": others, **lifted}
        for key, value in config.items():
            self._check(key, value, config)
        fields: Any = [
            (ours, kind, msgspec.field(name=theirs, default=default[0] if default else msgspec.NODEFAULT))
            for ours, theirs, (kind, *default) in ((ours, theirs, _SIZES[ours]) for ours, theirs in self.sizes.items())
        ]
        kind: Any = msgspec.defstruct(self.name, fields, bases=(_Settings,), kw_only=True)
        return settings_of({**self.defaults, **{k: v for k, v in config.items() if v is not None}}, kind, CONFIG)

    def _check(self, key: str, value: Any, config: Values) -> None:
        """Refuse a setting that may change what the model computes, unless it is known and has an allowed value.

        A setting of null, or an empty list or object, asks for nothing.
        """
        switches = {**_SWITCHES, **self.switches}
        known = {*self.sizes.values(), *self.known, *self.ignored, *_Common.__struct_fields__, *_IRRELEVANT}
        if key in switches:
            allowed, fits = repr(switches[key]), value == switches[key]
        elif key in self.words:
            allowed, fits = ", ".join(self.words[key]), set(_words(value)) <= set(self.words[key])
        elif key in self.equal:
            other = config.get(self.equal[key])
            allowed, fits = f"{other!r:.40} ({self.equal[key]})", value in (None, other)
        elif key in known or key.startswith("_") or value in (None, {}, []):
            return
        else:
            raise ImportFailed(
                "config.json has {key:.60}, which this program does not know; it may change what the model computes.",
                key=ascii(key),
            )
        if not fits:
            raise ImportFailed(
                "config.json has {key}={value:.60}; {kind} models are imported only with {allowed}.",
                key=key,
                value=repr(value),
                kind=self.name,
                allowed=allowed,
            )


def _words(value: Any) -> Iterator[str]:
    """The words of which a setting consists: one, or those of a list and of the lists in it."""
    if isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        yield value
