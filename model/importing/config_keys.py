"""Refuse settings in config.json that are not known: any of them may change what a model computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from model.importing.source_folder import CONFIG, ImportFailed

_IRRELEVANT = frozenset(
    (
        "architectures", "auto_map", "bad_words_ids", "bos_token_id", "chunk_size_feed_forward", "classif_dropout",
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

_EXPECTED = {
    "is_encoder_decoder": True,
    "is_decoder": False,
    "add_cross_attention": False,
    "tie_encoder_decoder": False,
    "use_bfloat16": False,
}
"""Switches that have one value in every encoder-decoder."""


def check_keys(config: Mapping[str, Any], known: Iterable[str], switches: Mapping[str, Any], kind: str) -> None:
    """Check that every setting is `known`, has no effect on the computation, or is a switch with the expected value.

    `switches` have another value in no model of this `kind`. A setting of null, or an empty list or object, asks for
    nothing.

    Raises:
        ImportFailed: a setting is none of these; the message names it.
    """
    expected = {**_EXPECTED, **switches}
    for key, value in config.items():
        if key in expected:
            if value != expected[key]:
                raise ImportFailed(
                    "{config} has {key}={value:.40}, which {kind} models do not have.",
                    config=CONFIG,
                    key=key,
                    value=repr(value),
                    kind=kind,
                )
        elif key not in known and key not in _IRRELEVANT and not key.startswith("_") and value not in (None, {}, []):
            raise ImportFailed(
                "{config} has {key:.60}, which this program does not know; it may change what the model computes.",
                config=CONFIG,
                key=ascii(key),
            )
