"""What a setting of a configuration may be: its type, its range, and the error that names it."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import field
from typing import Any, Literal

from model.user_error import UserError

LIMITS = {
    **dict.fromkeys(("d_model", "d_ff"), 2**17),
    **dict.fromkeys(("n_encoder_layers", "n_decoder_layers"), 1000),
    **dict.fromkeys(("n_encoder_heads", "n_decoder_heads"), 1024),
    **dict.fromkeys(("head_width", "relative_buckets"), 2**14),
    **dict.fromkeys(("src_vocab_size", "tgt_vocab_size", "vocab_size"), 10**7),
    "max_positions": 10**6,
    "embedding_factor": 10**4,
    "gradient_accumulation_steps": 10**4,
    "beam_size": 1000,
    "alpha": 100,
    "seed": 2**63 - 1,
    "split_seed": 2**63 - 1,
}
"""The largest value of each setting; for others it is :data:`LIMIT`. Far above any real run, yet nothing overflows."""
LIMIT = 10**12


class ConfigError(UserError):
    """A configuration that cannot be used; the message names the field and its allowed values."""


def setting(text: str, *, default: Any, least: int | None = None, fraction: bool = False) -> Any:
    """Declare a setting with its help text; a value is at least `least`, or a `fraction` from 0 to below 1."""
    return field(default=default, metadata={"help": text, "least": least, "fraction": fraction})


def check_type(key: str, value: Any, kind: Any) -> None:
    """Raise a ConfigError if a value is not of the type of its setting."""
    if typing.get_origin(kind) is Literal:
        if value not in typing.get_args(kind):
            raise ConfigError(
                "{key} is one of {choices}, not {value!r}.",
                key=key,
                choices=", ".join(map(str, typing.get_args(kind))),
                value=value,
            )
        return
    if typing.get_origin(kind) is tuple:
        if not isinstance(value, list | tuple) or not all(type(item) is int and item >= 0 for item in value):
            raise ConfigError("{key} must be a list of whole numbers from 0, not {value!r}.", key=key, value=value)
        return
    allowed = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    is_number_for_float = float in allowed and isinstance(value, int) and not isinstance(value, bool)
    is_bool_for_int = isinstance(value, bool) and bool not in allowed
    if is_bool_for_int or not (isinstance(value, tuple(allowed)) or is_number_for_float):
        raise ConfigError(
            "{key} must be of type {type}, not {value}.",
            key=key,
            type=getattr(kind, "__name__", kind),
            value=repr(value),
        )


def check_ranges(config: Any) -> None:
    """Refuse numbers outside the range in their field's metadata."""
    for each in dataclasses.fields(config):
        name, value = each.name, getattr(config, each.name)
        if not isinstance(value, (int, float)):
            continue
        limit, least = LIMITS.get(name, LIMIT), each.metadata["least"]
        if not abs(value) <= limit:  # also refuses NaN
            raise ConfigError(
                "{name}={value} must be a number of at most {limit:,}.", name=name, value=value, limit=limit
            )
        if each.metadata["fraction"] and not 0 <= value < 1:
            raise ConfigError("{name}={value} must be at least 0 and below 1.", name=name, value=value)
        if least is not None and value < least:
            raise ConfigError("{name}={value} must be at least {least}.", name=name, value=value, least=least)
