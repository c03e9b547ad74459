"""Traces whose attention is known by construction, so that figures and payloads can be checked against it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import Decoding, place_in
from model.trace import AttentionTrace, future_mask

ALTERNATIVES = 10


class Planted(NamedTuple):
    """A decoding, and where a view of it opens."""

    decoding: Decoding
    place: Place


def planted_trace(
    source: Sequence[str] = ("i", "read", "red", "books", "<eos>"),
    target: Sequence[str] = ("<sos>", "je", "lis", "livres", "rouge"),
    *,
    layers: tuple[int, int] = (2, 2),
    heads: tuple[int, int] = (2, 2),
    edits: tuple[str, ...] = (),
) -> AttentionTrace:
    """A decoding in which every head of layer l, head h (from 0) looks at one key only.

    Encoder: l + h positions to the right, cyclically. Decoder: the previous token (the first one: itself).
    Cross: row t looks at source token t + l + h, cyclically. The mean over heads is therefore uniform over these keys.
    """
    n_src, n_tgt = len(source), len(target)
    encoder = np.zeros((layers[0], heads[0], n_src, n_src), dtype=np.float32)
    decoder = np.zeros((layers[1], heads[1], n_tgt, n_tgt), dtype=np.float32)
    cross = np.zeros((layers[1], heads[1], n_tgt, n_src), dtype=np.float32)
    for weights, key in (
        (encoder, lambda q, shift: (q + shift) % n_src),
        (decoder, lambda q, shift: max(q - 1, 0)),
        (cross, lambda q, shift: (q + shift) % n_src),
    ):
        for layer, head, query in np.ndindex(weights.shape[:3]):
            weights[layer, head, query, key(query, layer + head)] = 1.0
    ranks = np.arange(ALTERNATIVES)
    probabilities = (0.5 ** (ranks + 1)).astype(np.float32)
    predicted = (*target[1:], "<eos>")
    return AttentionTrace(
        encoder=encoder,
        decoder=decoder,
        cross=cross,
        encoder_mask=np.zeros((n_src, n_src), dtype=np.uint8),
        decoder_mask=future_mask(n_tgt),
        cross_mask=np.zeros((n_tgt, n_src), dtype=np.uint8),
        src_tokens=tuple(source),
        read_tokens=tuple(target),
        predicted_tokens=predicted,
        src_words=_words(source),
        tgt_words=_words(target),
        probabilities=np.full(n_tgt, probabilities[0]),
        top_ids=np.stack([[100 + t, *range(200, 199 + ALTERNATIVES)] for t in range(n_tgt)]),
        top_probabilities=np.tile(probabilities, (n_tgt, 1)),
        top_tokens=tuple((token, *(f"other{i}" for i in ranks[1:])) for token in predicted),
        edits=edits,
    )


def planted_view(trace: AttentionTrace | None = None, **changes: Any) -> Planted:
    """A planted trace, by default opened at step 1 of the mean over heads of the last layer."""
    trace = trace or planted_trace()
    place = {name: changes.pop(name) for name in ("kind", "layer", "head", "step") if name in changes}
    settings = {"seq": "first", "model": "planted", "path": tuple(int(i) for i in trace.top_ids[:, 0])}
    return Planted(Decoding(trace, **(settings | changes)), place_in(trace, **({"step": 1} | place)))


def _words(tokens: Sequence[str]) -> tuple[int, ...]:
    return tuple(-1 if token in ("<sos>", "<eos>") else i for i, token in enumerate(tokens))
