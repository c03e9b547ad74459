"""The quality of a model's translations of a sample, with and without edited heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.locale.text import fixed, plural
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.importance import SentenceLosses, edited_loss, edited_translations
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.data import Example, Task
from model.data.task import same_text
from model.edits import HeadEdits
from model.metrics import bleu, exact_match
from model.scoring import evenly_spaced

Check = Callable[[], None]


@dataclass(frozen=True)
class Quality:
    """The quality of translations: loss in nats per target token, exact match from 0 to 1, BLEU from 0 to 100.

    A score is None where references are missing or the measure does not apply. `losses` and `right` hold the same for
    each sentence: a change is then measured over the same sentences, with an interval.
    """

    loss: float
    exact: float | None
    bleu: float | None
    losses: SentenceLosses | None = None
    right: NDArray[np.float64] | None = None


def quality_of(
    loaded: LoadedModel, sample: Sample, task: Task | None, edit: HeadEdits | None, check: Check = lambda: None
) -> Quality:
    """Score a sample with an edit; the loss is that of the sample's own targets. `check` may raise to stop the work."""
    model = loaded.transformer
    losses = edited_loss(model, sample.pairs, edit, check=check)
    references = [reference for reference in sample.references if reference]
    if len(references) < len(sample):
        return Quality(losses.loss, None, None, losses)
    texts = edited_translations(model, sample.pairs, loaded.target, edit, check=check)
    exact, bleu_score = reference_scores(loaded, sample, task, texts)
    return Quality(losses.loss, exact, bleu_score, losses, right_sentences(sample, task, texts))


def right_sentences(sample: Sample, task: Task | None, texts: Sequence[str]) -> NDArray[np.float64]:
    """[sentence]: 1 where a translation is exactly right, else 0."""
    equivalent = task.equivalent if task is not None else same_text
    marks = (
        equivalent(text, Example(source.text, reference or "", None))
        for text, source, reference in zip(texts, sample.sources, sample.references, strict=True)
    )
    return np.array([float(mark) for mark in marks])


def reference_scores(
    loaded: LoadedModel, sample: Sample, task: Task | None, texts: Sequence[str]
) -> tuple[float | None, float | None]:
    """Exact match of translations with the references of a sample, and BLEU unless tokens are characters."""
    equivalent = task.equivalent if task is not None else same_text
    examples = [
        Example(source.text, reference or "", None)
        for source, reference in zip(sample.sources, sample.references, strict=True)
    ]
    exact = exact_match(equivalent(text, example) for text, example in zip(texts, examples, strict=True))
    if loaded.data_config.tokenizer == "characters":
        return exact, None
    return exact, bleu(texts, [example.target for example in examples]).score


def subsample(sample: Sample, most: int) -> Sample:
    """At most `most` sentences, evenly spaced."""
    return sample.part(evenly_spaced(len(sample), most))


def quality_words(before: Quality, after: Quality, sentences: int) -> str:
    """The effect of a change over a sample, in one sentence, with intervals over sentences where they are known."""
    words = f"Loss {fixed(before.loss, 3)} → {fixed(after.loss, 3)} nats per token, by {_loss_change(before, after)}"
    if before.exact is not None and after.exact is not None:
        words += f"; exactly right {fixed(100 * before.exact, 1)} % → {fixed(100 * after.exact, 1)} %"
        if before.right is not None and after.right is not None:
            points = bootstrap.of_mean(100 * (after.right - before.right))
            words += f", by {interval(points, 1)} percentage points"
    if before.bleu is not None and after.bleu is not None:
        words += f"; BLEU {fixed(before.bleu, 1)} → {fixed(after.bleu, 1)}"
    return f"{words}. Over {plural(sentences, 'sentence')}."


def _loss_change(before: Quality, after: Quality) -> str:
    if before.losses is None or after.losses is None:
        return fixed(after.loss - before.loss, 3, signed=True)
    return interval(before.losses.loss_change(after.losses), 3)


def interval(item: Estimate, decimals: int) -> str:
    """A change with its 95 % interval, each number rounded once: "+0.125 (+0.101 to +0.150)"."""
    value, low, high = (fixed(part, decimals, signed=True) for part in item.at())
    unclear = "" if bool(item.differs_from_zero()) else ", not distinguishable from zero"
    return f"{value} ({low} to {high}{unclear})"
