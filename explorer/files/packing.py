"""Recorded decodings as one block of bytes for a page that stands alone; `js/standalone_data.js` reads it.

The block is a header as in the other payloads (4 bytes of length, JSON padded to a multiple of 4), then the masks of
all recordings, one byte per cell (encoder, decoder, cross), then all numbers, stored by significance: the lowest byte
of every number, then the next. Like bytes then stand side by side and compress well.

The numbers of one kind are stored by cell (query by query, visible keys only), and within a cell by layer and head.
They are the bits of float32 weights, or whole numbers if the weights are rounded. Causal rows do not change when a
translation is continued otherwise, so a fork begins with the same numbers as the first recording: it is stored as the
difference in bits from it, which is zero up to where the fork leaves it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import heads_state, stepper_payload
from explorer.browser.heads_payload import kind_header
from explorer.browser.heads_state import HeadsView
from explorer.browser.stepper_payload import StepperView
from explorer.decoding.attention_maps import FORMS, attention_maps, has_subwords
from explorer.locale.text import printable
from model.config import ATTENTION_KINDS, AttentionKind
from model.trace import VISIBLE, AttentionTrace, kinds_of


@dataclass(frozen=True, eq=False)
class Recording:
    """One decoding of a page that stands alone.

    Args:
        heads: its attention, and where the views of heads start.
        steps: the same for the stepper; None without cross-attention, which the stepper needs.
        text, detail: how it is named where there are several: the translation, and what is special about it.
        step: where it leaves the recording that it is a fork of, from 1.
        path: the target ids; recordings whose paths begin alike are forks of each other.
    """

    heads: HeadsView
    steps: StepperView | None = None
    text: str = ""
    detail: str = ""
    step: int = 1
    path: tuple[int, ...] = ()

    @property
    def trace(self) -> AttentionTrace:
        """The recorded attention."""
        return self.heads.trace


def pack(recordings: Sequence[Recording], about: dict[str, Any], *, digits: int | None = None) -> bytes:
    """The block described at the top of this file; `about` is added to its header.

    With `digits`, weights are rounded to so many decimals, at most 4; otherwise they are the float32 numbers.

    Raises:
        ValueError: a weight is not a number.
    """
    width = 4 if digits is None else 2
    header = {
        **about,
        "width": width,
        "digits": digits,
        "recordings": [_header(one, forks) for one, forks in zip(recordings, forks_of(recordings), strict=True)],
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    masks = b"".join(one.trace.mask(kind).astype(np.uint8).tobytes() for one in recordings for kind in ATTENTION_KINDS)
    first = {kind: stored(recordings[0].trace, kind, digits) for kind in ATTENTION_KINDS}
    numbers = [*first.values()]
    for one in recordings[1:]:
        numbers += [_from(first[kind], stored(one.trace, kind, digits)) for kind in ATTENTION_KINDS]
    planes = np.ascontiguousarray(np.concatenate(numbers)).view(np.uint8).reshape(-1, width).T
    return struct.pack("<I", len(text)) + text + masks + planes.tobytes()


def stored(trace: AttentionTrace, kind: AttentionKind, digits: int | None) -> NDArray[Any]:
    """The numbers of one kind in the order in which they are stored: uint32, or uint16 if they are rounded."""
    weights, mask = trace.weights(kind), trace.mask(kind)
    chosen = np.ones_like(mask, bool) if _whole(trace, kind) else mask == VISIBLE
    heads, count = weights.shape[0] * weights.shape[1], int(chosen.sum())
    cells = np.ascontiguousarray(weights[..., chosen].reshape(heads, count).T, dtype="<f4")
    if digits is None:
        return cells.view("<u4").ravel()
    return np.rint(cells.astype(np.float64) * 10**digits).astype("<u2").ravel()


def _whole(trace: AttentionTrace, kind: AttentionKind) -> bool:
    """Whether masked cells hold anything, which is wrong and therefore has to be seen."""
    return bool(trace.weights(kind)[..., trace.mask(kind) != VISIBLE].any())


def _from(base: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    shared = min(len(base), len(numbers))
    return np.concatenate([numbers[:shared] ^ base[:shared], numbers[shared:]])


def forks_of(recordings: Sequence[Recording]) -> list[list[dict[int, int]]]:
    """For each recording and row: which recording continues from another token, by that token's id."""
    forks: list[list[dict[int, int]]] = [[{} for _ in one.trace.read_tokens] for one in recordings]
    for i, one in enumerate(recordings):
        for j, other in enumerate(recordings):
            pairs = enumerate(zip(one.path, other.path, strict=False))
            row = next((row for row, (mine, its) in pairs if mine != its), None)
            if row is not None and row < len(forks[i]):
                forks[i][row].setdefault(other.path[row], j)
    return forks


def _header(one: Recording, forks: list[dict[int, int]]) -> dict[str, Any]:
    trace, seq = one.trace, one.heads.seq
    forms = FORMS if has_subwords(trace) else FORMS[:1]
    headers: dict[str, dict[str, Any]] = {}
    for kind in kinds_of(trace):
        named = [form for form in forms if form != "words-next" or kind != "encoder"]
        headers[kind] = {
            form: kind_header(attention_maps(trace, kind, form), name=f"{kind} {form}", seq=seq, exact=True)
            for form in named
        }
    return {
        "seq": seq,
        "text": printable(one.text),
        "detail": printable(one.detail),
        "step": one.step,
        "stepper": stepper_payload.header(one.steps, name="") if one.steps else None,
        "heads": heads_state.header(one.heads, one.heads.start(), turn=0, name=""),
        "maps": {
            kind: dict(zip(("layers", "heads", "queries", "keys"), trace.weights(kind).shape, strict=True))
            | {"whole": _whole(trace, kind)}
            for kind in ATTENTION_KINDS
        },
        "forms": headers,
        "forks": forks,
    }
