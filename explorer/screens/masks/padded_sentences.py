"""The batch that the Masks page looks at: the current sentence, alone or beside others that are longer or shorter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray

from explorer.translation.examples import examples_of
from explorer.translation.translator import InputError, Translation
from explorer.web import runtime
from model.analysis.mask_effects import PaddedBatch, Reading, Switches, padded_batch, read, why_closed
from model.config import EOS, PAD, AttentionKind, DecodeConfig
from model.recorder import Head
from model.text.tokenizer import Tokenizer
from model.trace import Codes

MOST = 4  # sentences side by side; more make no clearer picture


@dataclass(frozen=True, eq=False)
class Sentences:
    """Translations side by side as one padded batch, with a label for every place in it, padding included."""

    batch: PaddedBatch
    texts: tuple[str, ...]
    src_tokens: tuple[tuple[str, ...], ...]
    read_tokens: tuple[tuple[str, ...], ...]
    label_tokens: tuple[tuple[str, ...], ...]

    def queries(self, kind: AttentionKind, row: int) -> tuple[str, ...]:
        """Labels of the rows of a map."""
        return self.src_tokens[row] if kind == "encoder" else self.read_tokens[row]

    def keys(self, kind: AttentionKind, row: int) -> tuple[str, ...]:
        """Labels of the columns of a map."""
        return self.read_tokens[row] if kind == "decoder" else self.src_tokens[row]

    def padded_queries(self, kind: AttentionKind, row: int) -> NDArray[np.bool_]:
        """Which rows of a map are padding."""
        found: NDArray[np.bool_] = ((self.batch.src if kind == "encoder" else self.batch.tgt)[row] == PAD).numpy()
        return found

    def padded_keys(self, kind: AttentionKind, row: int) -> NDArray[np.bool_]:
        """Which columns of a map are padding."""
        found: NDArray[np.bool_] = ((self.batch.tgt if kind == "decoder" else self.batch.src)[row] == PAD).numpy()
        return found

    def codes(self, kind: AttentionKind, row: int, switches: Switches) -> Codes:
        """Why the cells of a map are open or closed, [query, key]."""
        return why_closed(self.batch.src, self.batch.tgt, kind, row, switches)


def sentences(shown: Translation, target: Tokenizer, others: tuple[str, ...] = ()) -> Sentences:
    """The current translation and those of other sentences of the same model."""
    found = [shown, *(_companion(shown, text) for text in others)]
    batch = padded_batch([each.source.ids for each in found], [each.path for each in found])

    def filled(tokens: tuple[str, ...], length: int) -> tuple[str, ...]:
        return tokens + (target.label(PAD),) * (length - len(tokens))

    n_src, n_tgt = batch.src.size(1), batch.tgt.size(1)
    return Sentences(
        batch,
        tuple(each.source.text for each in found),
        tuple(filled(each.trace.src_tokens, n_src) for each in found),
        tuple(filled(each.trace.read_tokens, n_tgt) for each in found),
        tuple(filled(each.trace.predicted_tokens, n_tgt) for each in found),
    )


def _companion(shown: Translation, text: str) -> Translation:
    """The translation of another sentence; what is cut from the current one has its target cut as short."""
    found = runtime.translate(shown.model, text, DecodeConfig())
    if not shown.source.text.startswith(text):
        return found
    return runtime.translate(shown.model, text, DecodeConfig(), (*shown.path[: len(found.source.ids)][:-1], EOS))


def companions(shown: Translation) -> tuple[str, ...]:
    """Examples of the model with other lengths than the current sentence, shortest and longest first."""
    wanted: dict[int, str] = {len(shown.source.ids): shown.source.text}
    for prompt in examples_of(runtime.models().get(shown.model, {"folder": "", "task": ""})):
        try:
            wanted.setdefault(len(runtime.describe(shown.model).source.encode(prompt.source)), prompt.source)
        except InputError:
            continue  # an example that this model cannot read is no companion
    others = [text for length, text in sorted(wanted.items()) if text != shown.source.text]
    if not others:
        words = shown.source.text.split()
        shorter = " ".join(words[: max(1, len(words) // 2)]) if len(words) > 1 else shown.source.text[:3]
        others = [text for text in (shorter,) if text != shown.source.text]
    ends = others[:1] + others[-1:] + others[1:-1]
    return tuple(dict.fromkeys(ends))[: MOST - 1]


def reading(shown: Translation, found: Sentences, switches: Switches, head: Head) -> Reading:
    """The batch read with these masks, one head in every detail; computed once for all that ask."""
    return _read(shown.model, runtime.fingerprint(shown.model), shown.seq, found.texts, switches, head, found)


@st.cache_resource(max_entries=32, show_spinner=False)
def _read(
    name: str, version: str, seq: str, texts: tuple[str, ...], switches: Switches, head: Head, _found: Sentences
) -> Reading:
    del version, seq, texts  # parts of the key only
    batch = _found.batch
    with runtime.model(name) as translator:
        model = translator.loaded.transformer
        return read(model, batch.src, batch.tgt, batch.labels, switches, details=[head])


def right_share(done: Reading, found: Sentences, row: int) -> float:
    """The mean probability of the right next token of one sentence, over its real tokens."""
    real = torch.from_numpy(~found.padded_queries("decoder", row))
    return float(done.probabilities[row][real].mean())
