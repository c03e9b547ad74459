"""Run the model on the current sentence with chosen masks, alone or padded as in a batch, once for all sessions."""

from __future__ import annotations

from explorer.decoding.examples import sentences_of
from explorer.decoding.masked_reading import (
    Longer,
    MaskedReading,
    Sentence,
    lengthened,
    longer_by,
    nearest_longer,
    read_masked,
    sentence_of,
)
from explorer.decoding.translator import Translation
from explorer.web import runtime
from model.analysis.mask_effects import Switches
from model.config import PAD, DecodeConfig
from model.points import Head

MOST_BYTES = 50_000_000  # of weights; with a larger model, translating another sentence takes too long
MOST_COLUMNS = 32  # of a map that fits into half of a laptop's page
_TRIES = 3  # sentences of a kind that are translated, at most
_MORE = 2  # words that make a sentence longer, at most; tokens of padding where no other sentence is read


def longer_than(translation: Translation) -> Longer:
    """What gives the current sentence padding: the nearest longer one that fits, as the model translates it.

    It is an example of the model, else another sentence that comes with its task, else the sentence with its first
    words again. If the model writes a longer target for none of them, no sentence is read for the padding.
    """
    name, sentence = translation.model, sentence_of(translation)
    summary, model = runtime.models().get(name), runtime.describe(name)
    own = longer_by(translation, model.model_config)
    if summary and summary["bytes"] <= MOST_BYTES:
        length = max(len(sentence.ids), len(sentence.path) - translation.n_prompt - 1)  # without <eos>
        limits = length, MOST_COLUMNS
        kinds = (nearest_longer(texts, sentence.text, limits, model.source) for texts in sentences_of(summary))
        real = [text for texts in kinds for text in texts[:_TRIES]]
        for text in (*real, *(lengthened(sentence, more) for more in range(1, _MORE + 1))):
            made = text not in real
            other = longer_by(runtime.translate(name, text, DecodeConfig()), model.model_config, made=made)
            if other.tgt > own.tgt and (made or max(other.src, other.tgt) <= MOST_COLUMNS):
                return other
    src, tgt = (min(n + _MORE, model.model_config.max_positions) if n else 0 for n in (own.src, own.tgt))
    return Longer(src, tgt)


def masked_reading(
    model: str, sentence: Sentence, switches: Switches, head: Head | None = None, longer: Longer | None = None
) -> MaskedReading:
    """A sentence as the model read it with these masks: one head's scores, or without it, predictions."""
    return runtime.computed(
        model, read_masked, sentence, longer, switches, head, runtime.describe(model).target.label(PAD)
    )
