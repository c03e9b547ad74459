"""Run the model on the current sentence with chosen masks, alone or in a padded batch, once for all sessions."""

from __future__ import annotations

from explorer.decoding.masked_reading import (
    MaskedReading,
    Sentence,
    companions_among,
    companions_of,
    read_masked,
    sentence_of,
)
from explorer.decoding.translator import Translation
from explorer.web import runtime
from model.analysis.mask_effects import Switches
from model.config import EOS, PAD, DecodeConfig
from model.points import Head

MOST_BYTES = 50_000_000  # of weights; with a larger model, translating other sentences for the batch takes too long


def batch_of(translation: Translation) -> tuple[Sentence, ...]:
    """The current sentence, and examples of the model with other lengths; of a large model, its own beginning."""
    summary = runtime.models().get(translation.model, {"folder": "", "task": "", "bytes": 0})
    if summary["bytes"] > MOST_BYTES:
        texts = companions_among(translation.source.text, len(translation.source.ids), {})
    else:
        texts = companions_of(sentence_of(translation), runtime.describe(translation.model).source, summary)
    return (sentence_of(translation), *(_companion(translation, text) for text in texts))


def _companion(translation: Translation, text: str) -> Sentence:
    """Another sentence with its translation; if it is the beginning of the current one, the beginning of its target."""
    model = runtime.describe(translation.model)
    if not (translation.source.text.startswith(text) and model.model_config.has_encoder):
        return sentence_of(runtime.translate(translation.model, text, DecodeConfig()))
    whole, begun = sentence_of(translation), model.source.encode(text)
    path = (*whole.path[: len(begun.ids) - 1], EOS)
    end = whole.src_tokens[len(whole.ids) :]
    labels = (*whole.label_tokens[: len(path) - 1], model.target.label(EOS))
    answer = model.target.decode(path)
    return Sentence(text, begun.ids, path, (*begun.tokens, *end), whole.read_tokens[: len(path)], labels, answer, True)


def readings(
    model: str, sentences: tuple[Sentence, ...], switches: Switches, head: Head | None = None
) -> tuple[MaskedReading, ...]:
    """Each sentence as the model read the batch with these masks: one head's scores, or without it, predictions."""
    return runtime.computed(model, read_masked, sentences, switches, head, runtime.describe(model).target.label(PAD))
