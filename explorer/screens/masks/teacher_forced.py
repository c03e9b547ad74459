"""Sentences of the Masks page read in one batch with chosen masks, each computed once for all sessions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from explorer.byte_cache import cached
from explorer.decoding.examples import examples_of
from explorer.decoding.padded_sentences import PaddedSentences, companions_among, pad_together
from explorer.decoding.translator import InputError, Translation
from explorer.web import runtime
from model.analysis.mask_effects import Reading, Switches, read
from model.config import EOS, PAD, DecodeConfig
from model.data import TASKS, get_task
from model.points import Head
from model.text.tokenizer import Tokenizer

MOST_OWN = 40  # sentences of the task's own splits among which a companion of another length is looked for
MOST_PADDING = 3  # tokens by which such a companion is longer


def padded(shown: Translation, others: tuple[str, ...] = ()) -> PaddedSentences:
    """The current translation and those of other sentences of the same model, as one batch."""
    padding = runtime.describe(shown.model).target.label(PAD)
    return pad_together([shown, *(_companion(shown, text) for text in others)], padding)


def _companion(shown: Translation, text: str) -> Translation:
    """The translation of another sentence; for the beginning of the current one, as much of its target."""
    translation = runtime.translate(shown.model, text, DecodeConfig())
    if not shown.source.text.startswith(text):
        return translation
    path = (*shown.path[: len(translation.source.ids)][:-1], EOS)
    return runtime.translate(shown.model, text, DecodeConfig(), path)


def companions(shown: Translation) -> tuple[str, ...]:
    """Examples of the model whose lengths differ from the current sentence's, shortest and longest first."""
    tokenizer = runtime.describe(shown.model).source
    summary = runtime.models().get(shown.model, {"folder": "", "task": ""})
    examples = _lengths(tokenizer, [example.source for example in examples_of(summary)])
    here = len(shown.source.ids)
    if summary["task"] in TASKS:  # one that is a little longer gives the current sentence some padding
        for read in get_task(summary["task"]).own_splits.values():
            own = _lengths(tokenizer, [example.source for example in read()[:MOST_OWN]])
            examples |= {source: length for source, length in own.items() if here < length <= here + MOST_PADDING}
    return companions_among(shown.source.text, len(shown.source.ids), examples)


def _lengths(tokenizer: Tokenizer, sources: Sequence[str]) -> dict[str, int]:
    """The number of tokens of each sentence that the model can read."""
    lengths = {}
    for source in sources:
        with suppress(InputError):
            lengths[source] = len(tokenizer.encode(source))
    return lengths


def reading(shown: Translation, sentences: PaddedSentences, switches: Switches, head: Head) -> Reading:
    """The batch read with these masks; everything about one head is kept."""
    version = runtime.fingerprint(shown.model)
    return _read(shown.model, version, shown.seq, sentences.texts, switches, head, sentences)


@cached
def _read(
    name: str,
    version: str,
    seq: str,
    texts: tuple[str, ...],
    switches: Switches,
    head: Head,
    _sentences: PaddedSentences,
) -> Reading:
    del version, seq, texts  # parts of the key only
    batch = _sentences.batch
    with runtime.model(name) as translator:
        return read(translator.loaded.transformer, batch.src, batch.tgt, batch.labels, switches, details=[head])
