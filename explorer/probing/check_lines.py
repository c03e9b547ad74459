"""What the cross-checks say about a model, as sentences: for the cards of the models that come with Headlight."""

from __future__ import annotations

from explorer.probing.cross_checks import kept_shares
from explorer.probing.map_agreement import map_agreement
from explorer.probing.reporting import Report, unheard
from explorer.probing.source_counts import source_counts
from explorer.probing.syntax import targets_of
from explorer.probing.word_classes import WordClass, classes_of
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel


def target_classes(loaded: LoadedModel, sample: Sample) -> list[tuple[WordClass, ...]] | None:
    """Function and content words among the targets; None for letters, and for languages without a list."""
    if loaded.data_config.tokenizer == "characters":
        return None
    return classes_of(targets_of(sample, loaded.target), loaded.data_config.tgt_lang)


def check_lines(loaded: LoadedModel, sample: Sample, report: Report = unheard) -> tuple[str, ...]:
    """The captions of all three counts over a sample."""
    classes = target_classes(loaded, sample)
    return (
        kept_shares(loaded, sample, classes, report).caption(),
        map_agreement(loaded, sample, report).caption(),
        source_counts(loaded, sample, classes, report).caption(),
    )
