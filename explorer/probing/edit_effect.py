"""The effect of edited heads on one translation, step by step, and what is taken from another sentence for an edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.head_change import Change
from explorer.decoding.names import short_name
from explorer.decoding.translator import InputError, Translation, Translator
from explorer.locale.text import plural, quoted
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import HeadEdits
from model.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class Step:
    """One step on the path of the unchanged translation.

    reads, predicts: its tokens; before, after: the probability of `predicts` without and with the change; instead: the
    likeliest token with the change and its probability; divergence: KL(before ‖ after) in nats.
    """

    reads: str
    predicts: str
    before: float
    after: float
    instead: str
    instead_probability: float
    divergence: float


@dataclass(frozen=True, eq=False)
class Effect:
    """A sentence translated without and with a change, and how the distribution of every step changes."""

    before: Translation
    after: Translation
    steps: tuple[Step, ...]

    @property
    def divergence(self) -> float:
        """Mean KL divergence over the steps, in nats."""
        return float(np.mean([step.divergence for step in self.steps])) if self.steps else 0.0


def step_rows(effect: Effect) -> list[dict[str, Any]]:
    """One row per step of the unchanged translation."""
    return [
        {
            "step": t,
            "reads": step.reads,
            "predicts": step.predicts,
            "probability before": round(step.before, 4),
            "probability after": round(step.after, 4),
            "change": round(step.after - step.before, 4),
            "likeliest after": step.instead,
            "its probability": round(step.instead_probability, 4),
            "KL (nats)": round(step.divergence, 4),
        }
        for t, step in enumerate(effect.steps, start=1)
    ]


def effect_on(translator: Translator, text: str, edit: HeadEdits) -> Effect:
    """Translate `text` greedily without and with an edit, and compare the distributions along the first path.

    The two decodings may diverge, after which their steps cannot be compared. Both distributions are therefore taken
    after the same prefix, that of the unchanged translation.

    Raises:
        InputError: there is nothing to translate. EditError: the edit does not fit.
    """
    config = DecodeConfig()
    before = translator.translate(text, config)
    return effect_of(translator, before, translator.translate(text, config, edit=edit), edit)


def effect_of(translator: Translator, before: Translation, after: Translation, edit: HeadEdits) -> Effect:
    """The effect of an edit, given the greedy translations without it (`before`) and with it (`after`).

    Raises:
        EditError: the edit does not fit.
    """
    plain = _along(translator, before, None)
    changed = _along(translator, before, edit)
    p, q = distributions(plain), distributions(changed)
    apart = divergence(p, q)
    steps = tuple(
        Step(
            reads=plain.read_tokens[t],
            predicts=plain.predicted_tokens[t],
            before=float(p[t, token]),
            after=float(q[t, token]),
            instead=changed.top_tokens[t][0],
            instead_probability=float(changed.top_probabilities[t, 0]),
            divergence=float(apart[t]),
        )
        for t, token in enumerate(before.path)
    )
    return Effect(before, after, steps)


def _along(translator: Translator, shown: Translation, edit: HeadEdits | None) -> AttentionTrace:
    """Decode along the path of a translation again, with an edit, and record the probability of every token."""
    loaded = translator.loaded
    config = DecodeConfig(max_length=len(shown.path))
    everything = loaded.model_config.tgt_vocab_size
    return decode_recorded(
        loaded.transformer, shown.source, loaded.target, config, prefix=shown.path, n_alternatives=everything, edit=edit
    ).trace


def distributions(trace: AttentionTrace) -> NDArray[np.float64]:
    """[tgt, vocab]: the probability of every token at every step, from a trace with all alternatives."""
    full = np.zeros((len(trace.read_tokens), int(trace.top_ids.max()) + 1))
    np.put_along_axis(full, trace.top_ids, trace.top_probabilities.astype(np.float64), axis=1)
    return full


def divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL(p ‖ q) = Σ p ln (p / q) in nats, row by row (Kullback & Leibler 1951); q below 1e-12 counts as 1e-12."""
    there = p > 0
    logs = np.log(np.where(there, p, 1.0) / np.maximum(np.where(there, q, 1.0), 1e-12))
    total: NDArray[np.float64] = np.maximum((p * logs).sum(axis=-1), 0.0)  # rounding may leave values slightly below 0
    return total


def from_another(translator: Translator, other: Translation, shown: Translation, change: Change) -> NDArray[np.float32]:
    """The pattern [query, key] or output [query, d_head] of a head in `other`, to be put into `shown`.

    Raises:
        InputError: it does not fit this sentence; the message says why.
    """
    kind, layer, head = change.place
    if change.op == "pattern":
        name = f"{change.kind} {short_name(change.layer, change.head)}"
        pattern: NDArray[np.float32] = other.trace.weights(kind)[layer, head]
        needed = shown.trace.weights(kind).shape[2:]
        if kind != "decoder" and pattern.shape[1] != needed[1]:
            raise InputError(
                f"The pattern of {name} does not fit: {quoted(change.other)} has "
                f"{plural(pattern.shape[1], 'source token')} with <eos>, this sentence has {needed[1]}. Choose a "
                f"sentence of equal length, or take the head's output."
            )
        if kind == "decoder" and pattern.shape != needed:
            raise InputError(
                f"The pattern of {name} does not fit: the translation of "
                f"{quoted(change.other)} has {plural(pattern.shape[0], 'step')}, that of this sentence {needed[0]}."
            )
        return pattern
    details = translator.details(other, [change.place])[change.place]
    return np.stack([row.output for row in details.rows])
