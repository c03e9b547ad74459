"""A sample whose words are aligned statistically, where no right alignment is known: offered, and always labelled."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from explorer.locale.text import fixed, plural
from explorer.probing.reporting import Report
from explorer.probing.syntax import targets_of
from model.analysis.recorded_batches import Sample
from model.analysis.statistical_alignment import Aligner, error_rate_on_scenes, scenes_error_rate, train_aligner
from model.analysis.word_alignment import aligned_tokens, word_gold
from model.checkpoint import LoadedModel
from model.data.scenes import scenes
from model.data.task import DataError, Task
from model.scoring import evenly_spaced

MOST_PAIRS = 5_000  # of the run's own training pairs


def has_gold(sample: Sample) -> bool:
    """Whether the right alignment of any sentence is known."""
    return any(item is not None for item in (*sample.alignments, *sample.links))


def align(sample: Sample, loaded: LoadedModel, task: Task | None, report: Report) -> tuple[Sample, str]:
    """The sample with statistical links between its words, and a sentence that says what they are worth.

    The aligner learns from the training pairs of the model's own run where they are known, and from the sample itself.
    A sample of which right alignments are known stays as it is.
    """
    if has_gold(sample):
        return sample, ""
    targets = targets_of(sample, loaded.target)
    own = [(one.text, two.text) for one, two in zip(sample.sources, targets, strict=True) if two.text]
    if not own:
        return sample, "No sentence could be aligned."
    training = _training_pairs(task)
    aligner = train_aligner(
        [*training, *own],
        lambda done: report(done, f"Aligning words in {plural(len(training) + len(own), 'pair')}"),
    )
    links, alignments = [], []
    for source, target in zip(sample.sources, targets, strict=True):
        found = aligner.links(source.text, target.text) if target.text else None
        links.append(None if found is None else word_gold(found, source, target))
        alignments.append(None if found is None else aligned_tokens(found, source, target))
    aligned = dataclasses.replace(sample, links=tuple(links), alignments=tuple(alignments), statistical=True)
    return aligned, _said(loaded, aligner)


def _training_pairs(task: Task | None) -> Sequence[tuple[str, str]]:
    """Pairs that the model was trained on, evenly spread; none where they cannot be read."""
    try:
        examples = [] if task is None else list(task.splits.get("train", ()))
    except DataError:  # the aligner then has the sample alone, and the sentence about it says from how many it learnt
        examples = []
    chosen = evenly_spaced(len(examples), min(len(examples), MOST_PAIRS))
    return [(examples[i].source, examples[i].target) for i in chosen]


def _said(loaded: LoadedModel, aligner: Aligner) -> str:
    """What the aligner is, what it learnt from, and how good such an aligner is where right alignments are known."""
    languages = loaded.data_config.src_lang, loaded.data_config.tgt_lang
    known = fixed(error_rate_on_scenes("en"), 2)
    text = (
        f"These alignments are statistical, not right: IBM Model 1 with a prior for the diagonal, trained on "
        f"{plural(aligner.pairs, 'pair')}. Trained on Headlight's {plural(len(scenes()), 'scene')} alone, it has an "
        f"alignment error rate of {known} on their annotated links"
    )
    if set(languages) == {"en", "de"}:
        text += f"; the one used here has {fixed(scenes_error_rate(aligner, languages[0]), 2)} on them"
    return f"{text}."
