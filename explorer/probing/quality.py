"""The quality of a model's translations of a sample, with and without edited heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.text import fixed, plural
from model.analysis.importance import edited_loss, edited_translations
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

    A score is None where references are missing or the measure does not apply.
    """

    loss: float
    exact: float | None
    bleu: float | None


def quality_of(
    loaded: LoadedModel, sample: Sample, task: Task | None, edit: HeadEdits | None, check: Check = lambda: None
) -> Quality:
    """Score a sample with an edit; the loss is that of the sample's own targets. `check` may raise to stop the work."""
    model = loaded.transformer
    loss = edited_loss(model, sample.pairs, edit, check=check).loss
    references = [reference for reference in sample.references if reference]
    if len(references) < len(sample):
        return Quality(loss, None, None)
    texts = edited_translations(model, sample.pairs, loaded.target, edit, check=check)
    return Quality(loss, *reference_scores(loaded, sample, task, texts))


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
    rows = evenly_spaced(len(sample), most)
    return Sample(
        tuple(sample.sources[i] for i in rows),
        tuple(sample.targets[i] for i in rows),
        tuple(sample.alignments[i] for i in rows),
        tuple(sample.references[i] for i in rows),
        links=tuple(sample.links[i] for i in rows),
    )


def quality_words(before: Quality, after: Quality, sentences: int) -> str:
    """The effect of a change over a sample, in one sentence."""
    change = fixed(after.loss - before.loss, 3, signed=True)
    words = f"Loss {before.loss:.3f} → {after.loss:.3f} nats per token ({change})"
    if before.exact is not None and after.exact is not None:
        words += f"; exactly right {100 * before.exact:.1f} % → {100 * after.exact:.1f} %"
    if before.bleu is not None and after.bleu is not None:
        words += f"; BLEU {before.bleu:.1f} → {after.bleu:.1f}"
    return f"{words}. Over {plural(sentences, 'sentence')}."
