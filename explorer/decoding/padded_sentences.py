"""Translations side by side as one padded batch, with a label for every place in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.decoding.translator import Translation
from model.analysis.mask_effects import PaddedBatch, Reading, Switches, padded_batch, why_closed
from model.config import PAD, AttentionKind
from model.trace import Codes

MAX_SENTENCES = 4  # in one batch; more make no clearer picture


@dataclass(frozen=True, eq=False)
class PaddedSentences:
    """Translations as one padded batch; labels cover padding, too."""

    batch: PaddedBatch
    texts: tuple[str, ...]
    src_tokens: tuple[tuple[str, ...], ...]
    read_tokens: tuple[tuple[str, ...], ...]
    label_tokens: tuple[tuple[str, ...], ...]

    def queries(self, kind: AttentionKind, row: int) -> tuple[str, ...]:
        """Labels of the rows of a map, for sentence number `row` of the batch."""
        return self.src_tokens[row] if kind == "encoder" else self.read_tokens[row]

    def keys(self, kind: AttentionKind, row: int) -> tuple[str, ...]:
        """Labels of the columns of a map."""
        return self.read_tokens[row] if kind == "decoder" else self.src_tokens[row]

    def padded_queries(self, kind: AttentionKind, row: int) -> NDArray[np.bool_]:
        """Which rows of a map are padding."""
        padding: NDArray[np.bool_] = ((self.batch.src if kind == "encoder" else self.batch.tgt)[row] == PAD).numpy()
        return padding

    def padded_keys(self, kind: AttentionKind, row: int) -> NDArray[np.bool_]:
        """Which columns of a map are padding."""
        padding: NDArray[np.bool_] = ((self.batch.tgt if kind == "decoder" else self.batch.src)[row] == PAD).numpy()
        return padding

    def codes(self, kind: AttentionKind, row: int, switches: Switches) -> Codes:
        """Why the cells of a map are open or closed, [query, key]."""
        return why_closed(self.batch.src, self.batch.tgt, kind, row, switches)

    def probability_of_target(self, reading: Reading, row: int) -> float:
        """The mean probability of the next target token of one sentence, padding left out."""
        real = torch.from_numpy(~self.padded_queries("decoder", row))
        return float(reading.probabilities[row][real].mean())


def pad_together(translations: Sequence[Translation], padding: str) -> PaddedSentences:
    """Several translations as one batch; `padding` is the label of a padding token."""
    batch = padded_batch([each.source.ids for each in translations], [each.path for each in translations])

    def filled(tokens: tuple[str, ...], length: int) -> tuple[str, ...]:
        return tokens + (padding,) * (length - len(tokens))

    n_src, n_tgt = batch.src.size(1), batch.tgt.size(1)
    return PaddedSentences(
        batch,
        tuple(each.source.text for each in translations),
        tuple(filled(each.trace.src_tokens, n_src) for each in translations),
        tuple(filled(each.trace.read_tokens, n_tgt) for each in translations),
        tuple(filled(each.trace.predicted_tokens, n_tgt) for each in translations),
    )


def companions_among(text: str, length: int, examples: Mapping[str, int]) -> tuple[str, ...]:
    """Sentences to stand beside `text`: one example of every other length, shortest and longest first.

    `length` and the values of `examples` count tokens without <eos>. Without an example, the first half of `text`.
    """
    by_length = {length: text}
    for example, n_tokens in examples.items():
        by_length.setdefault(n_tokens, example)
    others = [each for _, each in sorted(by_length.items()) if each != text]
    if not others:
        words = text.split()
        shorter = " ".join(words[: max(1, len(words) // 2)]) if len(words) > 1 else text[:3]
        others = [each for each in (shorter,) if each != text]
    ends = others[:1] + others[-1:] + others[1:-1]
    return tuple(dict.fromkeys(ends))[: MAX_SENTENCES - 1]
