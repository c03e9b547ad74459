"""Run the model on the current sentence with chosen masks, alone or beside a longer one, once for all sessions."""

from __future__ import annotations

from explorer.decoding.examples import examples_of
from explorer.decoding.masked_reading import (
    Longer,
    MaskedReading,
    Sentence,
    lengthened,
    longer_example,
    read_masked,
    sentence_of,
)
from explorer.decoding.translator import Translation
from explorer.web import runtime
from model.analysis.mask_effects import Switches
from model.config import PAD, DecodeConfig
from model.points import Head

MOST_BYTES = 50_000_000  # of weights; with a larger model, translating an example takes too long


def longer_than(translation: Translation) -> Longer:
    """A sentence that is longer than the current one, and its target: an example of the model, else its own words."""
    summary, model = runtime.models().get(translation.model), runtime.describe(translation.model)
    sentence = sentence_of(translation)
    if summary and summary["bytes"] <= MOST_BYTES:
        example = longer_example(sentence, model.source, (each.source for each in examples_of(summary)))
        other = runtime.translate(translation.model, example, DecodeConfig()) if example else None
        if other and len(other.path) > len(sentence.path):
            return Longer(example, other.source.ids, other.path)
    return lengthened(sentence, model.source, model.model_config)


def masked_reading(
    model: str, sentence: Sentence, switches: Switches, head: Head | None = None, longer: Longer | None = None
) -> MaskedReading:
    """A sentence as the model read it with these masks: one head's scores, or without it, predictions."""
    return runtime.computed(
        model, read_masked, sentence, longer, switches, head, runtime.describe(model).target.label(PAD)
    )
