"""Encode a decoding as the messages that the views draw: on a page, in a page that stands alone, in a notebook.

One message has the header (tokens, probabilities, alternatives), and the weights and masks as arrays (wire.py). Causal
rows do not change at later steps, so one message serves every step of one (model, sentence, path). The kinds of a large
decoding can follow one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.structs import (
    Alternatives,
    Checks,
    DecodingHeader,
    DecodingMessage,
    Heat,
    Shape,
    Source,
    Target,
)
from explorer.decoding.attention_maps import has_subwords
from explorer.decoding.decoding import Decoding
from explorer.locale.text import printable
from model.config import ATTENTION_KINDS, AttentionKind
from model.decoding.temperature import TEMPERATURES
from model.trace import AttentionTrace, kinds_of

AT_ONCE = 1_000_000
"""Bytes of weights that are sent in one message."""


def encode(
    decoding: Decoding,
    kinds: Iterable[AttentionKind] = ATTENTION_KINDS,
    *,
    with_header: bool = True,
    digits: int | None = None,
) -> bytes:
    """Encode a decoding, or some kinds of it, as one message. For `digits` see :func:`explorer.browser.wire.write`.

    Raises:
        ValueError: the ids do not fit the trace, or a weight is not a number.
    """
    trace = decoding.trace
    _check(decoding)
    chosen = [kind for kind in kinds_of(trace) if kind in set(kinds)]
    message = DecodingMessage(
        seq=decoding.seq,
        decoding=header(decoding) if with_header else None,
    )
    arrays: dict[str, NDArray[Any]] = {}
    for kind in chosen:
        arrays[kind] = trace.weights(kind)
        arrays[f"{kind}.mask"] = trace.mask(kind).astype(np.uint8)
    return wire.write(vars(message), arrays, digits=digits)


def header(decoding: Decoding) -> DecodingHeader:
    """The header of a decoding: everything but its weights and masks."""
    trace = decoding.trace
    first = decoding.unpredicted
    return DecodingHeader(
        model=printable(decoding.model),
        trained=decoding.trained,
        edits=_printable(trace.edits),
        source=Source(
            tokens=_printable(trace.src_tokens),
            words=[int(word) for word in trace.src_words],
            unknown=[i for i, unknown in enumerate(decoding.src_unknown) if unknown],
        ),
        target=Target(
            tokens=_printable(trace.read_tokens),
            words=[int(word) for word in trace.tgt_words],
            predicted=_printable(trace.predicted_tokens),
            predicted_ids=[int(i) for i in decoding.path],
            probabilities=_numbers(trace.probabilities) if np.isfinite(trace.probabilities).all() else None,
            chosen=list(decoding.chosen),
            by=decoding.chosen_by,
            given=decoding.n_prompt,
        ),
        alternatives=Alternatives(
            tokens=[[] if i < first else _printable(row) for i, row in enumerate(trace.top_tokens)],
            ids=[[] if i < first else row for i, row in enumerate(np.asarray(trace.top_ids).tolist())],
            joined=[list(row) for row in decoding.joined],
            probabilities=[[] if i < first else _numbers(row) for i, row in enumerate(trace.top_probabilities)],
        ),
        heat=None
        if decoding.log_sums is None
        else Heat(list(TEMPERATURES), [_numbers(row) for row in decoding.log_sums]),
        diagram=decoding.diagram,
        checks=_sanity(trace),
        shapes={kind: Shape(*trace.weights(kind).shape) for kind in ATTENTION_KINDS},
        subwords=has_subwords(trace),
    )


def _check(decoding: Decoding) -> None:
    trace, ids, sums = decoding.trace, decoding.path, decoding.log_sums
    rows = len(trace.read_tokens)
    # All kinds are checked, even if not all are sent: the header says that the rows of all kinds sum to 1.
    for kind in ATTENTION_KINDS:
        if not np.isfinite(trace.weights(kind)).all():
            raise ValueError(f"The {kind} attention holds a value that is not a number; the model is broken.")
    if ids and len(ids) != rows:
        raise ValueError(f"{len(ids)} predicted ids do not fit {rows} decoder rows.")
    if sums is not None and sums.shape != (rows, len(TEMPERATURES)):
        raise ValueError(f"log_sums must be [{rows}, {len(TEMPERATURES)}], one row per decoder row.")
    if len(decoding.src_unknown) > len(trace.src_tokens):
        raise ValueError(f"{len(decoding.src_unknown)} unknown marks do not fit {len(trace.src_tokens)} source tokens.")


def _sanity(trace: AttentionTrace) -> Checks:
    """Checks of every head: rows that see a key sum to 1 (largest error); masked cells are 0 (number that are not)."""
    error, leaks, heads = 0.0, 0, 0
    for kind in ATTENTION_KINDS:
        weights, masked = trace.weights(kind), trace.mask(kind) != 0
        seeing = ~masked.all(axis=-1)
        off = np.abs(weights.sum(axis=-1, dtype=np.float64) - 1)[..., seeing]
        error = max(error, float(off.max(initial=0.0)))
        leaks += int(np.count_nonzero(weights[..., masked]))
        heads += weights.shape[0] * weights.shape[1]
    return Checks(error=float(f"{error:.1e}"), leaks=leaks, heads=heads)


def _printable(tokens: Iterable[str]) -> list[str]:
    return [printable(token) for token in tokens]


def _numbers(values: Any) -> list[float]:
    """float32 values as the shortest JSON numbers that give the same float32 back."""
    return [float(str(value)) for value in np.asarray(values, dtype=np.float32)]
