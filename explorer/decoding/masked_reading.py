"""Read sentences in one padded batch with chosen masks, and keep the arrays with a label for every position."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.examples import examples_of
from explorer.decoding.labelled_map import LabelledMap, token_map
from explorer.decoding.translator import Translation
from explorer.locale.messages import t
from model.analysis.mask_effects import PaddedBatch, Switches, attention_to_keys, mask_codes, padded_batch, read
from model.config import PAD, AttentionKind
from model.points import Head
from model.text.tokenizer import Tokenizer
from model.trace import Codes
from model.transformer import Transformer

FIRST_DECODER_HEAD: Head = ("decoder", 0, 0)
MAX_SENTENCES = 4  # in one batch; more would not make the figure clearer

Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Sentence:
    """A sentence and its target: source ids (without <eos>), path, labels of what is read and predicted, and texts."""

    text: str
    ids: tuple[int, ...]
    path: tuple[int, ...]
    src_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    label_tokens: tuple[str, ...]
    answer: str
    is_beginning: bool = False  # of another sentence, with the beginning of its target


def sentence_of(translation: Translation) -> Sentence:
    """A translation as a sentence with its target."""
    trace = translation.trace
    tokens = (trace.src_tokens, trace.read_tokens, trace.predicted_tokens)
    return Sentence(translation.source.text, translation.source.ids, translation.path, *tokens, translation.text)


@dataclass(frozen=True, eq=False)
class MaskedReading:
    """One sentence of a batch that was read with chosen masks; its labels cover padding, too.

    Shapes:
        scores, weights: [query, key] of the requested head. decoder: all weights of decoder self-attention [layer,
        head, query, key]. probabilities: [tgt] of the token that each row must predict, likeliest: [tgt] ids; both
        are empty if a head was requested.
    """

    text: str
    row: int
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
        real: NDArray[np.bool_] = ((self.batch.src if kind == "encoder" else self.batch.tgt)[self.row] != PAD).numpy()
        return real

    def codes(self, kind: AttentionKind, switches: Switches) -> Codes:
        """Why the cells of a map are open or closed, [query, key]."""
        return mask_codes(self.batch.src, self.batch.tgt, kind, self.row, switches)

    def map(
        self, kind: AttentionKind, values: Weights, title: str, switches: Switches | None = None, **changes: Any
    ) -> LabelledMap:
        """Numbers [query, key] with the labels of a kind of attention; with `switches`, closed cells are masked.

        Captions leave padding out: nothing uses the results of its rows.
        """
        codes = None if switches is None else self.codes(kind, switches)
        counted = np.outer(self.real_queries(kind), self._real_keys(kind))
        if not counted.all():
            changes = {"counted": counted, "note": t("Of real tokens only:")} | changes
        return token_map(kind, values, self.queries(kind), self.keys(kind), title, codes, **changes)

    def map_ahead(self, values: Weights, title: str, switches: Switches) -> LabelledMap:
        """As :meth:`map` of decoder self-attention; captions speak of the weights on the next position alone."""
        ahead = np.eye(len(values), values.shape[1], k=1, dtype=np.bool_)
        note = t("Only weights one token ahead count here.")
        return self.map("decoder", values, title, switches, counted=ahead, note=note)

    def n_padding(self, kind: AttentionKind) -> int:
        """The number of columns of a map that are padding."""
        return int((~self._real_keys(kind)).sum())

    def to_padding(self, weights: Weights, kind: AttentionKind) -> float:
        """The share of attention [.., query, key] that tokens give to padding, averaged over the tokens."""
        return attention_to_keys(weights, self.real_queries(kind), ~self._real_keys(kind))

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

    def _real_keys(self, kind: AttentionKind) -> NDArray[np.bool_]:
        return self.real_queries("decoder" if kind == "decoder" else "encoder")


def read_masked(
    model: Transformer, sentences: tuple[Sentence, ...], switches: Switches, head: Head | None, padding: str
) -> tuple[MaskedReading, ...]:
    """Read sentences in one batch with these masks, for one head or, without it, for what the rows predict.

    `padding` is the label of a padding token.
    """
    shown = head or FIRST_DECODER_HEAD
    batch = padded_batch(model.config, [each.ids for each in sentences], [each.path for each in sentences])
    reading = read(model, batch.src, batch.tgt, batch.labels, switches, details=[shown], predicts=head is None)
    (details,) = reading.recorder.details[shown]
    n_src, n_tgt = batch.src.size(1), batch.tgt.size(1)

    def padded(tokens: tuple[str, ...], length: int) -> tuple[str, ...]:
        return tokens + (padding,) * (length - len(tokens))

    return tuple(
        MaskedReading(
            each.text,
            row,
            batch,
            padded(each.src_tokens, n_src),
            padded(each.read_tokens, n_tgt),
            padded(each.label_tokens, n_tgt),
            details["scores"][row].numpy(),
            details["weights"][row].numpy(),
            reading.recorder.weights("decoder", row=row),
            reading.probabilities[row].numpy(),
            reading.likeliest[row].numpy(),
        )
        for row, each in enumerate(sentences)
    )


def companions_of(sentence: Sentence, tokenizer: Tokenizer, summary: dict[str, Any]) -> tuple[str, ...]:
    """Choose examples of the model to read beside a sentence; see :func:`companions_among`."""
    examples = {example.source: len(tokenizer.encode(example.source)) for example in examples_of(summary)}
    return companions_among(sentence.text, len(sentence.ids), examples)


def companions_among(text: str, length: int, examples: dict[str, int]) -> tuple[str, ...]:
    """Choose sentences to read beside `text`: the next longer ones and the shortest, one of each length.

    `length` and the values of `examples` count tokens without <eos>. None has more than twice as many tokens, so that
    the map is not mostly padding. Without such an example, the first three quarters of
    the words of `text`.
    """
    by_length = {n_tokens: example for example, n_tokens in reversed(list(examples.items())) if n_tokens != length}
    longer = [by_length[n] for n in sorted(by_length) if length < n <= 2 * length]
    shorter = [by_length[n] for n in sorted(by_length) if n < length]
    chosen = tuple(dict.fromkeys(longer[:1] + shorter[:1] + longer[1:] + shorter[1:]))[: MAX_SENTENCES - 1]
    words = text.split()
    begun = " ".join(words[: min(len(words) - 1, math.ceil(0.75 * len(words)))]) if len(words) > 1 else text[:3]
    return chosen or tuple(each for each in (begun,) if each != text)
