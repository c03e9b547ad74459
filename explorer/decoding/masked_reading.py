"""Read a sentence with chosen masks, alone or padded beside a longer one; every position has a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from explorer.decoding.labelled_map import LabelledMap, token_map
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from model.analysis.mask_effects import PaddedBatch, Switches, mask_codes, padded_batch, read
from model.config import PAD, AttentionKind, ModelConfig
from model.points import Head
from model.text.tokenizer import Tokenizer
from model.trace import PADDING, Codes
from model.transformer import Transformer

FIRST_DECODER_HEAD: Head = ("decoder", 0, 0)

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Sentence:
    """A sentence and its target: text, source ids (without <eos>), path, and labels of what is read and predicted."""

    text: str
    ids: tuple[int, ...]
    path: tuple[int, ...]
    src_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    label_tokens: tuple[str, ...]


def sentence_of(translation: Translation) -> Sentence:
    """A translation as a sentence with its target."""
    trace = translation.trace
    tokens = (trace.src_tokens, trace.read_tokens, trace.predicted_tokens)
    return Sentence(translation.source.text, translation.source.ids, translation.path, *tokens)


@dataclass(frozen=True)
class Longer:
    """What gives a sentence padding: the lengths of what encoder and decoder read of a longer one, and its text.

    `text` is empty if no sentence was read for this; `made` says that it was written for the picture.
    """

    src: int
    tgt: int
    text: str = ""
    made: bool = False


@dataclass(frozen=True, eq=False)
class MaskedReading:
    """A sentence that was read with chosen masks, padded as in a batch; its labels cover padding, too.

    Shapes:
        scores, weights: [query, key] of the requested head. decoder: all weights of decoder self-attention [layer,
        head, query, key]. probabilities: [tgt] of the token that each row must predict, likeliest: [tgt] ids; both
        are empty if a head was requested.
    """

    batch: PaddedBatch
    src_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    label_tokens: tuple[str, ...]
    scores: Weights
    weights: Weights
    decoder: Weights
    probabilities: NDArray[np.float32]
    likeliest: NDArray[np.int64]

    def queries(self, kind: AttentionKind) -> tuple[str, ...]:
        """Labels of the rows of a map."""
        return self.src_tokens if kind == "encoder" else self.read_tokens

    def keys(self, kind: AttentionKind) -> tuple[str, ...]:
        """Labels of the columns of a map."""
        return self.read_tokens if kind == "decoder" else self.src_tokens

    def real_queries(self, kind: AttentionKind) -> NDArray[np.bool_]:
        """Which rows of a map are tokens rather than padding."""
        real: NDArray[np.bool_] = ((self.batch.src if kind == "encoder" else self.batch.tgt)[0] != PAD).numpy()
        return real

    def codes(self, kind: AttentionKind, switches: Switches) -> Codes:
        """Why the cells of a map are open or closed, [query, key]."""
        return mask_codes(self.batch.src, self.batch.tgt, kind, 0, switches)

    def map(
        self, kind: AttentionKind, values: Weights, title: str, switches: Switches | None = None, **changes: Any
    ) -> LabelledMap:
        """Numbers [query, key] with the labels of a kind of attention; with `switches`, closed cells are masked.

        Captions and scales leave out rows of padding, and its columns if they are closed, now or by `closing`.
        """
        codes = None if switches is None else self.codes(kind, switches)
        closed = changes.get("closing") if codes is None else codes
        is_closed = closed is not None and bool((closed == PADDING).any())
        counted = np.outer(self.real_queries(kind), self.real_keys(kind) | (not is_closed))
        if not counted.all():
            padding = int((~self.real_queries(kind)).sum())
            note = (
                t("Padding does not count here: nothing uses its rows.")
                if is_closed
                else t("Rows of padding do not count here.")
            )
            changes = {"counted": counted, "note": note, "padding": padding} | changes
        return token_map(kind, values, self.queries(kind), self.keys(kind), title, codes, **changes)

    def map_ahead(self, values: Weights, title: str, switches: Switches) -> LabelledMap:
        """As :meth:`map` of decoder self-attention; captions speak of the weights on the next position alone."""
        ahead = np.eye(len(values), values.shape[1], k=1, dtype=np.bool_)
        note = t("Only weights one token ahead count for this.")
        return self.map("decoder", values, title, switches, counted=ahead, note=note)

    def n_padding(self, kind: AttentionKind) -> int:
        """The number of columns of a map that are padding."""
        return int((~self.real_keys(kind)).sum())

    def to_padding(self, kind: AttentionKind) -> float:
        """The share of attention that tokens give to padding, averaged over the tokens."""
        return float(self.weights[self.real_queries(kind)][:, ~self.real_keys(kind)].sum(axis=-1).mean())

    def furthest_ahead(self) -> tuple[str, str, float]:
        """The largest weight of a token on a later one, of a target with two tokens or more: row, key and weight."""
        real = self.real_queries("decoder")
        ahead = np.triu(self.weights, k=1) * np.outer(real, real)
        row, key = np.unravel_index(ahead.argmax(), ahead.shape)
        return self.read_tokens[row], self.read_tokens[key], float(ahead[row, key])

    @property
    def probability_of_target(self) -> float:
        """The mean probability of the next target token, padding left out."""
        return float(self.probabilities[self.real_queries("decoder")].mean())

    def real_keys(self, kind: AttentionKind) -> NDArray[np.bool_]:
        """Which columns of a map are tokens rather than padding."""
        return self.real_queries("decoder" if kind == "decoder" else "encoder")


def read_masked(
    model: Transformer, sentence: Sentence, longer: Longer | None, switches: Switches, head: Head | None, padding: str
) -> MaskedReading:
    """Read a sentence, padded to the lengths of a longer one, for one head or, without it, for what the rows predict.

    `padding` is the label of a padding token.
    """
    shown = head or FIRST_DECODER_HEAD
    batch = padded_batch(model.config, [sentence.ids], [sentence.path])
    if longer:
        pairs = zip((batch.src, batch.tgt, batch.labels), (longer.src, longer.tgt, longer.tgt), strict=True)
        batch = PaddedBatch(*(pad(ids, (0, length - ids.size(1)), value=PAD) for ids, length in pairs))
    reading = read(model, batch.src, batch.tgt, batch.labels, switches, details=[shown], predicts=head is None)
    (details,) = reading.recorder.details[shown]

    def padded(tokens: tuple[str, ...], ids: Tensor) -> tuple[str, ...]:
        return tokens + (padding,) * (ids.size(1) - len(tokens))

    return MaskedReading(
        batch,
        padded(sentence.src_tokens, batch.src),
        padded(sentence.read_tokens, batch.tgt),
        padded(sentence.label_tokens, batch.tgt),
        details["scores"][0].numpy(),
        details["weights"][0].numpy(),
        reading.recorder.weights("decoder", row=0),
        reading.probabilities[0].numpy(),
        reading.likeliest[0].numpy(),
    )


def longer_by(translation: Translation, config: ModelConfig, *, made: bool = False) -> Longer:
    """A translation as the longer sentence of a batch."""
    src, tgt = config.inputs(translation.source.ids, translation.path)
    return Longer(len(src), len(tgt), translation.source.text, made)


def nearest_longer(texts: Iterable[str], text: str, limits: tuple[int, int], tokenizer: Tokenizer) -> list[str]:
    """Those of `texts` with a number of tokens between the limits, the shortest first.

    Unless `text` is one word, they have more words than it.
    """
    words = len(text.split())
    lengths = {other: len(tokenizer.encode(other).ids) for other in texts if words < 2 or len(other.split()) > words}
    return sorted((other for other, n in lengths.items() if limits[0] < n < limits[1]), key=lengths.__getitem__)


def lengthened(sentence: Sentence, more: int) -> str:
    """A text that ends with its first words again; one word of which each letter is a token, with its first letters."""
    words = sentence.text.split()
    if len(words) > 1 or len(sentence.ids) != len(sentence.text):
        return " ".join((sentence.text, *words[:more]))
    return sentence.text + sentence.text[:more]
