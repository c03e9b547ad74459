"""Checks that change something and run the model again: edited heads, reordered words, a given target.

Layers, heads and positions count from 1; head 0 is the mean over heads. Every check raises IndexError, KeyError or
ValueError where the sentence or the model has no such part; `registry.answer` turns that into a sentence.
"""

from __future__ import annotations

from typing import Any

from explorer.lessons.checks.registry import Live, check, item_at
from explorer.lessons.expressions import Value
from explorer.probing.edit_effect import effect_on
from model.analysis.mask_effects import Switches, padded_batch, read
from model.analysis.word_order import Shuffle, shuffle
from model.config import EOS, DecodeConfig
from model.edits import HeadEdit, HeadEdits, Operation


@check("heads:heads", "op:zero|uniform")
def changed(live: Live, heads: Any, op: Operation = "zero") -> Value:
    """The translation with some heads edited: op=zero (switched off) or op=uniform."""
    return live.translator.translate(live.shown.source.text, DecodeConfig(), edit=_edit(heads, op)).text


@check("row:count heads:heads", "op:zero|uniform")
def changed_token(live: Live, row: int, heads: Any, op: Operation = "zero") -> Value:
    """The token that a row predicts with some heads edited."""
    made = live.translator.translate(live.shown.source.text, DecodeConfig(), edit=_edit(heads, op))
    return str(item_at(made.trace.predicted_tokens, row, "row"))


@check("row:count heads:heads", "op:zero|uniform")
def changed_probability(live: Live, row: int, heads: Any, op: Operation = "zero") -> Value:
    """The probability of a row's original token with some heads edited."""
    steps = effect_on(live.translator, live.shown.source.text, _edit(heads, op)).steps
    return float(item_at(steps, row, "row").after)


def _edit(heads: Any, op: Operation) -> HeadEdits:
    return HeadEdits(tuple(HeadEdit(kind, layer - 1, head - 1, op) for kind, layer, head in heads))


@check("order:word", "positions:yes|no")
def reordered(live: Live, order: str, positions: str = "yes") -> Value:
    """The translation of the words in the given order (1 = the first word)."""
    return live.translator.loaded.target.decode(_shuffled(live, order, positions).shuffled_path)


@check("order:word", "positions:yes|no")
def order_effect(live: Live, order: str, positions: str = "yes") -> Value:
    """The largest change of an encoder weight between two words when the words change order."""
    return _shuffled(live, order, positions).difference


def _shuffled(live: Live, order: str, positions: str) -> Shuffle:
    ids = (*live.shown.source.ids, EOS)
    chosen = [int(part) - 1 for part in order.split("-")]
    used = {"yes": True, "no": False}[positions]
    return shuffle(live.translator.loaded.transformer, ids, (*chosen, len(ids) - 1), positions=used)


@check("target:word row:count", "mask:trained|closed|open")
def given_target(live: Live, target: str, row: int, mask: str = "trained") -> Value:
    """The probability of a row's token of a given target that the model reads all at once."""
    model = live.translator.loaded.transformer
    causal = {"trained": model.config.causal, "closed": True, "open": False}[mask]
    path = (*live.translator.loaded.target.encode(target).ids, EOS)
    batch = padded_batch([live.shown.source.ids], [path])
    reading = read(model, batch.src, batch.tgt, batch.labels, Switches(causal=causal))
    return float(item_at(reading.probabilities[0], row, "row"))
