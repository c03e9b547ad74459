"""Checks of what a model reads and predicts: tokens, probabilities, the translation.

Layers, heads and positions count from 1; head 0 is the mean over heads. Every check raises IndexError, KeyError or
ValueError where the sentence or the model has no such part; `registry.answer` turns that into a sentence.
"""

from __future__ import annotations

import numpy as np

from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.probing.edit_effect import distributions
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded


@check()
def translation(live: Live) -> Value:
    """The translation of the sentence."""
    return live.shown.text


@check("row:count")
def predicted(live: Live, row: int) -> Value:
    """The token that a row predicts."""
    return str(item_at(live.shown.trace.predicted_tokens, row, "row"))


@check("row:count")
def reads(live: Live, row: int) -> Value:
    """The token that a decoder row reads."""
    return str(item_at(live.shown.trace.read_tokens, row, "row"))


@check("key:count")
def source(live: Live, key: int) -> Value:
    """The source token at a position."""
    return str(item_at(live.shown.trace.src_tokens, key, "source token"))


@check("side:source|target")
def tokens(live: Live, side: str) -> Value:
    """The number of tokens: side=source (with <eos>) or side=target (rows of the decoder)."""
    sides = {"source": live.shown.trace.src_tokens, "target": live.shown.trace.read_tokens}
    return float(len(sides[side]))


@check("row:count", "token:word")
def probability(live: Live, row: int, token: str = "") -> Value:
    """The probability of the token that a row predicts, or of another of its ten likeliest."""
    trace = live.shown.trace
    if not token:
        return float(item_at(trace.probabilities, row, "row"))
    return float(trace.top_probabilities[row - 1][item_at(trace.top_tokens, row, "row").index(token)])


@check("row:count rank:count")
def alternative(live: Live, row: int, rank: int) -> Value:
    """The token of a rank among the likeliest of a row; rank 1 is the likeliest."""
    return str(item_at(item_at(live.shown.trace.top_tokens, row, "row"), rank, "rank"))


@check("row:count temperature:number")
def tempered(live: Live, row: int, temperature: float) -> Value:
    """The probability of a row's prediction at a temperature.

    softmax(log p / T) over all tokens.
    """
    loaded, shown = live.translator.loaded, live.shown
    config, everything = DecodeConfig(max_length=len(shown.path)), loaded.model_config.tgt_vocab_size
    trace = decode_recorded(
        loaded.model, shown.source, loaded.target, config, prefix=shown.path, n_alternatives=everything
    ).trace
    probabilities = distributions(trace)[row - 1] if item_at(trace.probabilities, row, "row") else np.zeros(1)
    powers = np.where(probabilities > 0, probabilities, 0.0) ** (1 / temperature)
    return float(powers.max() / powers.sum())
