"""The settings that Marian and BART name alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from model.importing.source_folder import CONFIG, ImportFailed, choice, flag, fraction, integer

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
_SHORT = {"eng": "en", "deu": "de", "ger": "de"}  # the languages of which sentences come with this program
MAX_LAYERS, MAX_WIDTH, MAX_LENGTH = 64, 16_384, 65_536


def sizes(config: dict[str, Any]) -> dict[str, Any]:
    """The sizes and switches of a model as settings of ModelConfig.

    Raises:
        ImportFailed: one is missing, out of range, or not computed here.
    """
    d_ff = integer(config, "encoder_ffn_dim", low=1, high=16 * MAX_WIDTH)
    if integer(config, "decoder_ffn_dim", low=1, high=16 * MAX_WIDTH) != d_ff:
        raise ImportFailed(
            f"{CONFIG} has feed-forward layers of {d_ff} units in the encoder and {config['decoder_ffn_dim']} in the "
            f"decoder; this Transformer has one size for both."
        )
    d_model = integer(config, "d_model", low=2, high=MAX_WIDTH)
    scaled = flag(config, "scale_embedding", False)
    return {
        "d_model": d_model,
        "d_ff": d_ff,
        "n_encoder_layers": integer(config, "encoder_layers", low=1, high=MAX_LAYERS),
        "n_decoder_layers": integer(config, "decoder_layers", low=1, high=MAX_LAYERS),
        "n_encoder_heads": integer(config, "encoder_attention_heads", low=1, high=MAX_WIDTH),
        "n_decoder_heads": integer(config, "decoder_attention_heads", low=1, high=MAX_WIDTH),
        "max_positions": integer(config, "max_position_embeddings", low=2, high=MAX_LENGTH),
        "activation": ACTIVATIONS[choice(config, "activation_function", ACTIVATIONS)],
        "dropout": fraction(config, "dropout"),
        "attention_dropout": fraction(config, "attention_dropout"),
        "activation_dropout": fraction(config, "activation_dropout"),
        "scale_embeddings": scaled,
        "embedding_factor": math.sqrt(d_model) if scaled else 1.0,
        "norm_first": False,
    }


def refuse_other_kinds(config: Mapping[str, Any], expected: Mapping[str, Any], kind: str) -> None:
    """Refuse a configuration that sets one of these switches, by which families of models differ, otherwise.

    Raises:
        ImportFailed: the message names the switch.
    """
    for key, value in expected.items():
        if config.get(key, value) != value:
            raise ImportFailed(f"{CONFIG} has {key}={config[key]!r:.40}, which {kind} models do not have.")


def language_code(lang: str) -> str:
    """A language as our tokenizers name it: `xx` for several languages, or one without a short code."""
    lang = _SHORT.get(lang, lang)
    return lang if re.fullmatch(r"[a-z]{2,3}", lang) else "xx"
