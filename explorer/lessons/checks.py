"""The questions that a lesson may ask of a model: named, pure functions of a translation and the model that made it.

Positions, layers and heads count from 1, head 0 is the mean over heads, as everywhere on screen. Each raises
IndexError, KeyError or ValueError where the sentence or the model has no such part; lesson_registry.answer makes a
sentence of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from explorer.attention.attention_maps import attention_maps
from explorer.attention.head_summary import summarise
from explorer.lessons.check_registry import CHECKS, Live, answer, check, validate
from explorer.lessons.expressions import Value
from explorer.probing.edit_effect import distributions, effect_on
from explorer.runs.metrics import MetricsReader
from model.analysis.mask_effects import Switches, padded_batch, read
from model.analysis.word_order import Shuffle, shuffle
from model.config import ATTENTION_KINDS, EOS, AttentionKind, DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import HeadEdit, HeadEdits, Operation
from model.folder import CARD, METRICS
from model.trace import VISIBLE

__all__ = ["CHECKS", "Live", "answer", "validate"]  # with every check below entered

_PLACE = "kind:kind layer:count head:count"


def _at(sequence: Any, position: int, what: str) -> Any:
    if not 1 <= position <= len(sequence):
        raise IndexError(f"there is no {what} {position}, they go from 1 to {len(sequence)}.")
    return sequence[position - 1]


def _row(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Any:
    weights = _at(live.shown.trace.weights(kind), layer, "layer")
    return _at(_map(weights, head), row, "row")


def _map(heads: Any, head: int) -> Any:
    return heads.mean(axis=0, dtype=np.float64) if head == 0 else _at(heads, head, "head")


def _keys(live: Live, kind: AttentionKind) -> tuple[str, ...]:
    return live.shown.trace.read_tokens if kind == "decoder" else live.shown.trace.src_tokens


@check()
def translation(live: Live) -> Value:
    """What the model answers to the sentence."""
    return live.shown.text


@check("row:count")
def predicted(live: Live, row: int) -> Value:
    """The token that a row predicts."""
    return str(_at(live.shown.trace.predicted_tokens, row, "row"))


@check("row:count")
def reads(live: Live, row: int) -> Value:
    """The token that a decoder row reads."""
    return str(_at(live.shown.trace.read_tokens, row, "row"))


@check("key:count")
def source(live: Live, key: int) -> Value:
    """The source token at a position."""
    return str(_at(live.shown.trace.src_tokens, key, "source token"))


@check("side:source|target")
def tokens(live: Live, side: str) -> Value:
    """How many tokens there are: side=source (with <eos>) or side=target (rows of the decoder)."""
    sides = {"source": live.shown.trace.src_tokens, "target": live.shown.trace.read_tokens}
    return float(len(sides[side]))


@check("row:count", "token:word")
def probability(live: Live, row: int, token: str = "") -> Value:
    """How sure the model is of the token that a row predicts, or of another of its ten likeliest."""
    trace = live.shown.trace
    if not token:
        return float(_at(trace.probabilities, row, "row"))
    return float(trace.top_probabilities[row - 1][_at(trace.top_tokens, row, "row").index(token)])


@check("row:count rank:count")
def alternative(live: Live, row: int, rank: int) -> Value:
    """The likeliest token of a row at a rank, 1 the likeliest."""
    return str(_at(_at(live.shown.trace.top_tokens, row, "row"), rank, "rank"))


@check("row:count temperature:number")
def tempered(live: Live, row: int, temperature: float) -> Value:
    """The probability that a row's prediction has after a temperature.

    softmax(log p / T) over all tokens.
    """
    loaded, shown = live.translator.loaded, live.shown
    config, everything = DecodeConfig(max_length=len(shown.path)), loaded.model_config.tgt_vocab_size
    trace = decode_recorded(
        loaded.model, shown.source, loaded.target, config, prefix=shown.path, n_alternatives=everything
    ).trace
    found = distributions(trace)[row - 1] if _at(trace.probabilities, row, "row") else np.zeros(1)
    powers = np.where(found > 0, found, 0.0) ** (1 / temperature)
    return float(powers.max() / powers.sum())


@check(f"{_PLACE} row:count key:count")
def weight(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int) -> Value:
    """An attention weight, 0 to 1."""
    return float(_at(_row(live, kind, layer, head, row), key, "key"))


@check(f"{_PLACE} row:count", "rank:count")
def strongest_key(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The token that a row looks at most, or at a lower rank."""
    return _keys(live, kind)[_ranked(_row(live, kind, layer, head, row), rank)]


@check(f"{_PLACE} row:count", "rank:count")
def strongest_position(live: Live, kind: AttentionKind, layer: int, head: int, row: int, rank: int = 1) -> Value:
    """The position of the token that a row looks at most, or at a lower rank."""
    return float(_ranked(_row(live, kind, layer, head, row), rank) + 1)


def _ranked(weights: Any, rank: int) -> int:
    return int(_at(np.argsort(-weights, kind="stable"), rank, "rank"))


@check(f"{_PLACE} row:count")
def row_sum(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The sum of a row's weights."""
    return float(_row(live, kind, layer, head, row).astype(np.float64).sum())


@check("kind:kind row:count")
def keys_open(live: Live, kind: AttentionKind, row: int) -> Value:
    """How many keys a row may look at."""
    return float((_at(live.shown.trace.mask(kind), row, "row") == VISIBLE).sum())


@check("kind:kind")
def masked_cells(live: Live, kind: AttentionKind) -> Value:
    """How many cells of a map the mask closes."""
    return float((live.shown.trace.mask(kind) != VISIBLE).sum())


@check("kind:kind")
def masked_weight(live: Live, kind: AttentionKind) -> Value:
    """The largest weight on a cell that the mask closes; 0 where there is none."""
    closed = live.shown.trace.weights(kind)[..., live.shown.trace.mask(kind) != VISIBLE]
    return float(closed.max(initial=0.0))


@check(_PLACE)
def effective_keys(live: Live, kind: AttentionKind, layer: int, head: int) -> Value:
    """How many keys a head effectively looks at: e to the entropy, mean over rows."""
    return float(_at(_at(summarise(attention_maps(live.shown.trace, kind)).effective, layer, "layer"), head, "head"))


@check(f"{_PLACE} place:itself|previous|next|first|diagonal|mirror|last")
def share(live: Live, kind: AttentionKind, layer: int, head: int, place: str) -> Value:
    """The share of a head's weight on a place: itself, previous, next, first, diagonal, mirror, last."""
    shares = summarise(attention_maps(live.shown.trace, kind)).shares[place]
    return float(_at(_at(shares, layer, "layer"), head, "head"))


@check("kind:kind place:itself|previous|next|first|diagonal|mirror|last")
def best_head(live: Live, kind: AttentionKind, place: str) -> Value:
    """The head with the largest share on a place, as 'layer 1, head 2'."""
    shares = summarise(attention_maps(live.shown.trace, kind)).shares[place]
    layer, head = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    return f"layer {layer + 1}, head {head + 1}"


@check(f"{_PLACE} row:count key:count", "form:raw|scaled")
def score(live: Live, kind: AttentionKind, layer: int, head: int, row: int, key: int, form: str = "scaled") -> Value:
    """Q · k of a cell, before scaling when form=raw, as softmax gets it when form=scaled."""
    one = (kind, layer - 1, head - 1)
    found = _at(live.translator.details(live.shown, [one])[one].rows, row, "row")
    product = float(found.query @ _at(found.keys, key, "key"))
    return {"raw": product, "scaled": float(found.scores[key - 1])}[form]


@check("kind:kind")
def head_size(live: Live, kind: AttentionKind) -> Value:
    """How many numbers a query or key of a head has."""
    config = live.translator.loaded.model_config
    return float(config.d_model // (config.n_encoder_heads if kind == "encoder" else config.n_decoder_heads))


@check("kind:kind")
def heads(live: Live, kind: AttentionKind) -> Value:
    """How many heads a kind of attention has in all its layers."""
    weights = live.shown.trace.weights(kind)
    return float(weights.shape[0] * weights.shape[1])


@check()
def all_heads(live: Live) -> Value:
    """How many heads there are in encoder, decoder and cross-attention together."""
    return float(
        sum(
            live.shown.trace.weights(kind).shape[0] * live.shown.trace.weights(kind).shape[1]
            for kind in ATTENTION_KINDS
        )
    )


@check()
def parameters(live: Live) -> Value:
    """How many numbers training chose."""
    return float(live.summary["parameters"])


@check("name:word")
def setting(live: Live, name: str) -> Value:
    """A setting of the model, such as d_model, positions, norm_first."""
    found = live.summary["model"][name]
    return found if isinstance(found, (str, bool)) else float(found)


@check("words:word")
def card_says(live: Live, words: str) -> Value:
    """Whether the model's card has these words; line breaks do not matter."""
    card = (Path(live.summary["folder"]) / CARD).read_text(encoding="utf-8", errors="replace")
    return " ".join(words.split()) in " ".join(card.split())


@check()
def even_chance(live: Live) -> Value:
    """The probability of each target token if all of them were equally likely."""
    return 1.0 / float(live.summary["model"]["tgt_vocab_size"])


@check("name:loss|exact_match|token_accuracy", "at:first|last")
def curve(live: Live, name: str, at: str = "last") -> Value:
    """The first or last number of a run's curve: loss in training, exact_match or token_accuracy on validation."""
    return _curve(live, name)[0 if at == "first" else -1][1]


@check("name:exact_match|token_accuracy value:number")
def step_reaching(live: Live, name: str, value: float) -> Value:
    """The number of updates after which a validation score had reached a value for the first time."""
    reached = [step for step, found in _curve(live, name) if found >= value]
    return _at(reached, 1, "step")


def _curve(live: Live, name: str) -> list[tuple[float, float]]:
    """(step, number) of each line of the run's metrics that has this number; losses are those of training."""
    metrics = MetricsReader(Path(live.summary["folder"]) / METRICS).read()
    points = metrics.train if name == "loss" else metrics.evals
    return [(point["step"], point[name]) for point in points if name in point]


@check("name:word")
def result(live: Live, name: str) -> Value:
    """A score on test sentences that the model's folder holds: exact_match, token_accuracy, loss, bleu."""
    results = live.summary["results"]
    return float((results.get("test") or results)[name])


@check("heads:heads", "op:zero|uniform")
def changed(live: Live, heads: Any, op: Operation = "zero") -> Value:
    """What the model answers with some heads changed: op=zero (switched off) or uniform."""
    return live.translator.translate(live.shown.source.text, DecodeConfig(), edit=_edit(heads, op)).text


@check("row:count heads:heads", "op:zero|uniform")
def changed_token(live: Live, row: int, heads: Any, op: Operation = "zero") -> Value:
    """The token that a row predicts with some heads changed."""
    made = live.translator.translate(live.shown.source.text, DecodeConfig(), edit=_edit(heads, op))
    return str(_at(made.trace.predicted_tokens, row, "row"))


@check("row:count heads:heads", "op:zero|uniform")
def changed_probability(live: Live, row: int, heads: Any, op: Operation = "zero") -> Value:
    """How sure the model is of the same token at a row with some heads changed."""
    steps = effect_on(live.translator, live.shown.source.text, _edit(heads, op)).steps
    return float(_at(steps, row, "row").after)


def _edit(heads: Any, op: Operation) -> HeadEdits:
    return HeadEdits(tuple(HeadEdit(kind, layer - 1, head - 1, op) for kind, layer, head in heads))


@check(f"{_PLACE} row:count")
def strongest_norm(live: Live, kind: AttentionKind, layer: int, head: int, row: int) -> Value:
    """The token whose part in a row is longest: the norm of weight × value × W_O."""
    norms, _ = live.translator.norms(live.shown, kind)
    found = _at(_at(_at(norms, layer, "layer"), head, "head"), row, "row")
    return _keys(live, kind)[int(np.asarray(found).argmax())]


@check("order:word", "positions:yes|no")
def reordered(live: Live, order: str, positions: str = "yes") -> Value:
    """What the model answers to the words in the order given (1 = the first word)."""
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
    """How sure the model is of a given right token when it reads the whole target at once."""
    model = live.translator.loaded.transformer
    causal = {"trained": model.config.causal, "closed": True, "open": False}[mask]
    path = (*live.translator.loaded.target.encode(target).ids, EOS)
    batch = padded_batch([live.shown.source.ids], [path])
    found = read(model, batch.src, batch.tgt, batch.labels, Switches(causal=causal))
    return float(_at(found.probabilities[0], row, "row"))
