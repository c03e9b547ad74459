"""Measure the effect of edited heads on the quality of a sample's translations, and on one translation by steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.head_change import Change
from explorer.decoding.names import short_name
from explorer.decoding.translator import InputError, Translation, Translator
from explorer.locale.messages import later, t, translated
from explorer.locale.text import fixed, percent, quoted, rounded
from explorer.probing.reporting import Report, progress_check, unheard
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.importance import SentenceLosses, batches_of, edited_loss, mean_outputs
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import DecodeConfig
from model.data import Example, Task
from model.data.task import same_text
from model.decoding.decode import decode_recorded
from model.edits import HeadEdits
from model.metrics import bleu
from model.points import Head
from model.scoring import scoring_batches, translate_pairs
from model.trace import AttentionTrace

Floats = NDArray[np.float64]
Means = dict[Head, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Quality:
    """The quality of translations, sentence by sentence, so that a change is measured over the same sentences.

    `right` is 1 for each translation that is exactly right and 0 for others, None without references. `bleu`, from 0 to
    100, is None without references and for character-level models.
    """

    losses: SentenceLosses
    right: Floats | None
    bleu: float | None

    @property
    def loss(self) -> float:
        """The loss in nats per target token."""
        return self.losses.loss

    @property
    def exact(self) -> float | None:
        """Exact match from 0 to 1."""
        return None if self.right is None else float(self.right.mean())


def quality_of(
    loaded: LoadedModel,
    sample: Sample,
    task: Task | None,
    edit: HeadEdits | None,
    report: Report = unheard,
) -> Quality:
    """Score a sample with an edit; the loss is that of the sample's own targets."""
    model = loaded.transformer
    pairs = sample.pairs
    check = progress_check(report, len(batches_of(pairs)) + len(scoring_batches(pairs)), "")
    losses = edited_loss(model, pairs, edit, check=check)
    if not all(sample.references):
        return Quality(losses, None, None)
    texts = translate_pairs(model, pairs, loaded.target, DecodeConfig(), edit=edit, check=check)
    return Quality(losses, *reference_scores(loaded, sample, task, texts))


def reference_scores(
    loaded: LoadedModel, sample: Sample, task: Task | None, texts: Sequence[str]
) -> tuple[Floats, float | None]:
    """Score translations: [sentence] 1 if exactly right, else 0; and BLEU, unless tokens are characters."""
    equivalent = task.equivalent if task is not None else same_text
    references = [reference or "" for reference in sample.references]
    examples = [Example(source.text, text, None) for source, text in zip(sample.sources, references, strict=True)]
    right = np.array([float(equivalent(text, example)) for text, example in zip(texts, examples, strict=True)])
    return right, None if loaded.data_config.tokenizer == "characters" else bleu(texts, references).score


def quality_words(before: Quality, after: Quality) -> str:
    """Describe how a change affects a sample, with intervals over sentences: the loss, and other measures if known."""
    parts = [
        t(
            "the loss goes from {before} to {after} nats per token, by {change}",
            before=fixed(before.loss, 3),
            after=fixed(after.loss, 3),
            change=interval(before.losses.loss_change(after.losses), 3),
        )
    ]
    if before.right is not None and after.right is not None:
        changed = bool((after.right != before.right).any())
        points = interval(bootstrap.of_mean(100 * (after.right - before.right)), 1)
        old, new = (percent(float(right.mean()), 1) for right in (before.right, after.right))
        if before.right.sum() < min(20, len(before.right) / 2):  # a change of their share would be noise
            old, new = (str(round(float(right.sum()))) for right in (before.right, after.right))
            n = t("{n} sentence", "{n:,} sentences", n=len(before.right))
            parts.append(t("of {sentences}, {before} right, then {after}", sentences=n, before=old, after=new))
        elif changed:
            said = t(
                "exact match from {before} to {after}, by {points} percentage points",
                before=old,
                after=new,
                points=points,
            )
            parts.append(said)
        else:
            parts.append(t("exact match {before} in both, of the same sentences", before=old))
    if before.bleu is not None and after.bleu is not None:
        old, new = fixed(before.bleu, 1), fixed(after.bleu, 1)
        parts.append(
            t(
                "BLEU from {before} to {after} on these sentences (no interval; other sentences, such as those of a "
                "test, have another BLEU)",
                before=old,
                after=new,
            )
        )
    return "; ".join(parts)


def with_interval(item: Estimate, write: Callable[[float], str], *place: int) -> str:
    """Write the value at one place with the ends of its interval: "0.12 (0.10 to 0.15)"."""
    number, low, high = map(write, item.at(*place))
    return t("{number} ({low} to {high})", number=number, low=low, high=high)


def interval(item: Estimate, decimals: int, *place: int) -> str:
    """Format a change with its 95 % interval, each number rounded once: "+0.125 (+0.101 to +0.150)"."""
    value, low, high = (fixed(part, decimals, signed=True) for part in item.at(*place))
    if bool(item.differs_from_zero()[place]):
        return t("{number} ({low} to {high})", number=value, low=low, high=high)
    return t("{number} ({low} to {high}, not distinguishable from zero)", number=value, low=low, high=high)


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
    """A sentence translated without and with an edit, and how the distribution of every step changes."""

    before: Translation
    after: Translation
    edit: HeadEdits
    steps: tuple[Step, ...]

    @property
    def divergence(self) -> float:
        """Mean KL divergence over the steps, in nats."""
        return float(np.mean([step.divergence for step in self.steps])) if self.steps else 0.0


def step_rows(effect: Effect) -> list[dict[str, Any]]:
    """One row per step of the unchanged translation, with what is likelier after the edit wherever anything is."""
    others = any(step.instead != step.predicts for step in effect.steps)

    def likelier(step: Step) -> dict[str, Any]:
        token, probability = step.instead, rounded(step.instead_probability, 3)
        cells = (token, probability) if token != step.predicts else ("", None)
        return dict(zip((t("likelier after"), t("its probability")), cells, strict=True)) if others else {}

    return [
        {
            t("step"): number,
            t("reads"): step.reads,
            t("predicts"): step.predicts,
            t("probability before"): rounded(step.before, 3),
            t("probability after"): rounded(step.after, 3),
            **likelier(step),
            t("KL (nats)"): rounded(step.divergence, 3),
        }
        for number, step in enumerate(effect.steps, start=1)
    ]


def effect_on(translator: Translator, text: str, edit: HeadEdits) -> Effect:
    """Translate `text` greedily without and with an edit, and compare the distributions along the first path.

    Raises:
        InputError: there is nothing to translate. EditError: the edit does not fit.
    """
    config = DecodeConfig()
    before = translator.translate(text, config)
    return effect_of(translator.loaded, before, translator.translate(text, config, edit=edit), edit)


def effect_of(loaded: LoadedModel, before: Translation, after: Translation, edit: HeadEdits) -> Effect:
    """Compare the greedy translations without an edit (`before`) and with it (`after`).

    The two decodings may diverge, after which their steps cannot be compared. Both distributions are therefore taken
    after the same prefix, that of the unchanged translation.

    Raises:
        EditError: the edit does not fit.
    """
    plain = _along(loaded, before, None)
    changed = _along(loaded, before, edit)
    p, q = distributions(plain), distributions(changed)
    divergences = divergence(p, q)
    steps = tuple(
        Step(
            reads=plain.read_tokens[i],
            predicts=plain.predicted_tokens[i],
            before=float(p[i, token]),
            after=float(q[i, token]),
            instead=changed.top_tokens[i][0],
            instead_probability=float(changed.top_probabilities[i, 0]),
            divergence=float(divergences[i]),
        )
        for i, token in enumerate(before.path)
    )
    return Effect(before, after, edit, steps)


def _along(loaded: LoadedModel, translation: Translation, edit: HeadEdits | None) -> AttentionTrace:
    """Force the path of a translation again, with an edit, and record the probability of every token."""
    config = DecodeConfig(max_length=len(translation.path))
    vocabulary = loaded.model_config.tgt_vocab_size
    return decode_recorded(
        loaded.transformer,
        translation.source,
        loaded.target,
        config,
        prefix=translation.path,
        n_alternatives=vocabulary,
        edit=edit,
    ).trace


def distributions(trace: AttentionTrace) -> Floats:
    """[tgt, vocab]: the probability of every token at every step, from a trace with all alternatives."""
    probabilities = np.zeros((len(trace.read_tokens), int(trace.top_ids.max()) + 1))
    np.put_along_axis(probabilities, trace.top_ids, trace.top_probabilities.astype(np.float64), axis=1)
    return probabilities


def divergence(p: Floats, q: Floats) -> Floats:
    """KL(p ‖ q) = Σ p ln (p / q) in nats, row by row (Kullback & Leibler 1951); q below 1e-12 counts as 1e-12."""
    there = p > 0
    logs = np.log(np.where(there, p, 1.0) / np.maximum(np.where(there, q, 1.0), 1e-12))
    total: Floats = np.maximum((p * logs).sum(axis=-1), 0.0)  # rounding may leave values slightly below 0
    return total


def means_over(loaded: LoadedModel, sample: Sample, heads: Sequence[Head]) -> Means:
    """Compute the mean output of each head over a sample, for the edit `mean`."""
    return mean_outputs(loaded.transformer, sample.pairs, heads)


def from_another(translator: Translator, other: Translation, own: Translation, change: Change) -> NDArray[np.float32]:
    """Get the pattern [query, key] or output [query, d_head] of a head in `other`, to put into `own`.

    Raises:
        InputError: it does not fit this sentence; the message says why.
    """
    kind, layer, head = change.place
    if change.op != "pattern":
        details = translator.details(other, [change.place])[change.place]
        return np.stack([row.output for row in details.rows])
    name = t("{kind} {head}", kind=translated(change.kind), head=short_name(change.layer, change.head))
    pattern: NDArray[np.float32] = other.trace.weights(kind)[layer, head]
    needed = own.trace.weights(kind).shape[2:]
    if kind != "decoder" and pattern.shape[1] != needed[1]:
        raise InputError(
            "The pattern of {name} does not fit: {other} has "
            "{tokens} with <eos>, this sentence has {needed}. Choose a "
            "sentence of equal length, or take the head's output.",
            name=name,
            other=quoted(change.other),
            tokens=later("{n} source token", "{n:,} source tokens", n=pattern.shape[1]),
            needed=needed[1],
        )
    if kind == "decoder" and pattern.shape != needed:
        raise InputError(
            "The pattern of {name} does not fit: the translation of {other} has "
            "{steps}, that of this sentence {needed}.",
            name=name,
            other=quoted(change.other),
            steps=later("{n} step", "{n:,} steps", n=pattern.shape[0]),
            needed=needed[0],
        )
    return pattern
