"""Checks of what a model reads and predicts, also with edited heads, reordered words or a given target."""

from __future__ import annotations

from typing import Literal

import numpy as np

from explorer.lessons.checks.registry import Heads, Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.probing.edit_effect import distributions, effect_on
from model.analysis.mask_effects import Switches, padded_batch, read
from model.analysis.word_order import Shuffle, shuffle
from model.config import EOS, DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import HeadEdit, HeadEdits

Edited = Literal["zero", "uniform"]
Answer = Literal["yes", "no"]


@check
def translation(live: Live) -> Value:
    """The translation of the sentence."""
    return live.translation.text


@check
def predicted(live: Live, row: int) -> Value:
    """The token that a row predicts."""
    return str(item_at(live.translation.trace.predicted_tokens, row, "row"))


@check
def reads(live: Live, row: int) -> Value:
    """The token that a decoder row reads."""
    return str(item_at(live.translation.trace.read_tokens, row, "row"))


@check
def source(live: Live, key: int) -> Value:
    """The source token at a position."""
    return str(item_at(live.translation.trace.src_tokens, key, "source token"))


@check
def tokens(live: Live, side: Literal["source", "target"]) -> Value:
    """The number of tokens: side=source (with <eos>) or side=target (rows of the decoder)."""
    sides = {"source": live.translation.trace.src_tokens, "target": live.translation.trace.read_tokens}
    return float(len(sides[side]))


@check
def probability(live: Live, row: int, token: str = "") -> Value:
    """The probability of the token that a row predicts, or of another of its ten likeliest."""
    trace = live.translation.trace
    if not token:
        return float(item_at(trace.probabilities, row, "row"))
    return float(trace.top_probabilities[row - 1][item_at(trace.top_tokens, row, "row").index(token)])


@check
def alternative(live: Live, row: int, rank: int) -> Value:
    """The token of this rank among the likeliest of a row; rank 1 is the likeliest."""
    return str(item_at(item_at(live.translation.trace.top_tokens, row, "row"), rank, "rank"))


@check
def tempered(live: Live, row: int, temperature: float) -> Value:
    """The probability of a row's prediction at a temperature.

    softmax(log p / T) over all tokens.
    """
    loaded, original = live.translator.loaded, live.translation
    config, vocabulary = DecodeConfig(max_length=len(original.path)), loaded.model_config.tgt_vocab_size
    trace = decode_recorded(
        loaded.model, original.source, loaded.target, config, prefix=original.path, n_alternatives=vocabulary
    ).trace
    probabilities = distributions(trace)[row - 1] if item_at(trace.probabilities, row, "row") else np.zeros(1)
    powers = np.where(probabilities > 0, probabilities, 0.0) ** (1 / temperature)
    return float(powers.max() / powers.sum())


@check
def changed(live: Live, heads: Heads, op: Edited = "zero") -> Value:
    """The translation with some heads edited: op=zero (switched off) or op=uniform."""
    return live.translator.translate(live.translation.source.text, DecodeConfig(), edit=_edit(heads, op)).text


@check
def changed_token(live: Live, row: int, heads: Heads, op: Edited = "zero") -> Value:
    """The token that a row predicts with some heads edited."""
    edited = live.translator.translate(live.translation.source.text, DecodeConfig(), edit=_edit(heads, op))
    return str(item_at(edited.trace.predicted_tokens, row, "row"))


@check
def changed_probability(live: Live, row: int, heads: Heads, op: Edited = "zero") -> Value:
    """The probability of a row's original token with some heads edited."""
    steps = effect_on(live.translator, live.translation.source.text, _edit(heads, op)).steps
    return float(item_at(steps, row, "row").after)


def _edit(heads: Heads, op: Edited) -> HeadEdits:
    return HeadEdits(tuple(HeadEdit(kind, layer - 1, head - 1, op) for kind, layer, head in heads))


@check
def reordered(live: Live, order: str, positions: Answer = "yes") -> Value:
    """The translation of the words in the given order (1 = the first word)."""
    return live.translator.loaded.target.decode(_shuffled(live, order, positions).shuffled_path)


@check
def order_effect(live: Live, order: str, positions: Answer = "yes") -> Value:
    """The largest change of an encoder weight between two words when the words change order."""
    return _shuffled(live, order, positions).difference


def _shuffled(live: Live, order: str, positions: Answer) -> Shuffle:
    ids = (*live.translation.source.ids, EOS)
    indices = [int(part) - 1 for part in order.split("-")]
    with_positions = {"yes": True, "no": False}[positions]
    return shuffle(live.translator.loaded.transformer, ids, (*indices, len(ids) - 1), positions=with_positions)


@check
def given_target(live: Live, target: str, row: int, mask: Literal["trained", "closed", "open"] = "trained") -> Value:
    """The probability of a row's token of a given target that the model reads all at once."""
    model = live.translator.loaded.transformer
    causal = {"trained": model.config.causal, "closed": True, "open": False}[mask]
    path = (*live.translator.loaded.target.encode(target).ids, EOS)
    batch = padded_batch(live.translator.loaded.model_config, [live.translation.source.ids], [path])
    reading = read(model, batch.src, batch.tgt, batch.labels, Switches(causal=causal))
    return float(item_at(reading.probabilities[0], row, "row"))
