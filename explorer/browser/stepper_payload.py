"""The stepper's data as one block of bytes, from which the browser draws a whole decoding.

The block is, in this order:

- 4 bytes: length of the header in bytes, unsigned, little-endian;
- the header: JSON in ASCII, padded with spaces so that what follows starts at a multiple of 4;
- the weights, float32 little-endian, row-major: encoder [layer, head, query, key], then decoder, then cross;
- the masks, one byte per cell (0 visible, 1 future, 2 padding): encoder [query, key], then decoder, then cross.

Causal rows do not change at later steps, so one block serves every step of one (model, sentence, path). Positions,
layers and heads in the header count from 1; head 0 is the mean over the heads.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.coordinates import Place
from explorer.decoding.model_diagram import ModelDiagram
from explorer.locale.text import printable
from model.config import ATTENTION_KINDS, AttentionKind
from model.decoding.temperature import TEMPERATURES

if TYPE_CHECKING:
    from model.trace import AttentionTrace

PAYLOAD_VERSION = 1
Arrays = dict[AttentionKind, NDArray[Any]]


@dataclass(frozen=True)
class StepperView:
    """A decoding, and the position at which the stepper starts.

    Args:
        trace: the recorded attention of the whole decoding, `tgt` rows.
        seq: names this decoding, for instance a hash of model, sentence and path. The browser adopts the position
            below only when it sees a new `seq`; after that the user decides.
        model: the model's name, shown in titles.
        predicted_ids: id of each of the trace's `predicted_tokens` (labels of two ids may look the same).
        src_unknown: which source tokens the model sees as <unk>; may leave out the final <eos>.
        step, layer, head: where to start, counted from 1; head 0 is the mean over the heads. Without a layer, the last.
            Values out of range come from edited links and are clamped to the valid range.
        kind: the attention in focus; anything unknown becomes cross-attention.
        chosen: rows, from 0, whose token is not the one that the model finds likeliest.
        chosen_by: who took those tokens there: "chosen", "drawn at random", "taken by beam search".
        trained: False puts an "untrained" badge on the view.
        log_sums: [tgt, temperature], for the bars at other temperatures (see model/decoding/temperature.py).
        diagram: the model as a small diagram, in which each place of attention can be chosen.
    """

    trace: AttentionTrace
    seq: str
    model: str
    predicted_ids: tuple[int, ...]
    src_unknown: tuple[bool, ...] = ()
    step: int = 1
    kind: str = "cross"
    layer: int | None = None
    head: int = 0
    trained: bool = True
    chosen: tuple[int, ...] = ()
    chosen_by: str = "chosen"
    log_sums: NDArray[np.float32] | None = None
    diagram: ModelDiagram | None = None

    def place(self) -> Place:
        """The position at the start, with every value clamped to this trace."""
        known = [kind for kind in ATTENTION_KINDS if kind == self.kind and self.trace.weights(kind).size]
        kind: AttentionKind = known[0] if known else "cross"
        layers, heads = self.trace.weights(kind).shape[:2]
        layer = layers if self.layer is None else self.layer
        step = _clamp(self.step, 1, len(self.trace.read_tokens))
        row = 1 if kind == "encoder" else step
        return Place(kind, _clamp(layer, 1, layers), _clamp(self.head, 0, heads), row=row, step=step)


def encode(view: StepperView, *, name: str) -> bytes:
    """The view as the block of bytes described at the top of this file; `name` says which stepper it is for.

    Raises:
        ValueError: the ids do not fit the trace, a kind of attention is missing, or a weight is not a number.
    """
    arrays = {kind: np.ascontiguousarray(view.trace.weights(kind), dtype="<f4") for kind in ATTENTION_KINDS}
    masks = {kind: np.ascontiguousarray(view.trace.mask(kind), dtype=np.uint8) for kind in ATTENTION_KINDS}
    text = json.dumps(header(view, name=name), separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 4)
    blocks = [arrays[kind].tobytes() for kind in ATTENTION_KINDS] + [masks[kind].tobytes() for kind in ATTENTION_KINDS]
    return struct.pack("<I", len(text)) + text + b"".join(blocks)


def header(view: StepperView, *, name: str) -> dict[str, Any]:
    """What the browser is told before the numbers, as JSON; the probabilities are null where they are not known.

    Raises:
        ValueError: as :func:`encode`.
    """
    _check(view)
    trace, start = view.trace, view.place()
    return {
        "version": PAYLOAD_VERSION,
        "name": name,
        "seq": view.seq,
        "step": start.step,
        "kind": start.kind,
        "layer": start.layer,
        "head": start.head,
        "model": printable(view.model),
        "trained": view.trained,
        "edits": [printable(edit) for edit in trace.edits],
        "source": {
            "tokens": [printable(token) for token in trace.src_tokens],
            "words": [int(word) for word in trace.src_words],
            "unknown": [i for i, unknown in enumerate(view.src_unknown) if unknown],
        },
        "target": {
            "tokens": [printable(token) for token in trace.read_tokens],
            "words": [int(word) for word in trace.tgt_words],
            "predicted": [printable(token) for token in trace.predicted_tokens],
            "predicted_ids": [int(i) for i in view.predicted_ids],
            "probabilities": _numbers(trace.probabilities) if np.isfinite(trace.probabilities).all() else None,
            "chosen": list(view.chosen),
            "by": view.chosen_by,
        },
        "alternatives": {
            "tokens": [[printable(token) for token in row] for row in trace.top_tokens],
            "ids": np.asarray(trace.top_ids).tolist(),
            "probabilities": [_numbers(row) for row in trace.top_probabilities],
        },
        "heat": None
        if view.log_sums is None
        else {"temperatures": list(TEMPERATURES), "log_sums": [_numbers(row) for row in view.log_sums]},
        "diagram": view.diagram.payload() if view.diagram else None,
        "checks": _sanity(trace),
        "maps": {
            kind: dict(zip(("layers", "heads", "queries", "keys"), trace.weights(kind).shape, strict=True))
            for kind in ATTENTION_KINDS
        },
    }


def decode(payload: bytes) -> tuple[dict[str, Any], Arrays, Arrays]:
    """The header, the weights by kind [layer, head, query, key] and the masks by kind [query, key] of a block.

    Raises:
        ValueError: the block is cut short, too long, or of another version.
    """
    (length,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4 : 4 + length])
    if header["version"] != PAYLOAD_VERSION:
        raise ValueError(f"This payload is of version {header['version']}, not {PAYLOAD_VERSION}.")
    shapes = {kind: tuple(int(n) for n in header["maps"][kind].values()) for kind in ATTENTION_KINDS}
    end = 4 + length
    weights: Arrays = {}
    masks: Arrays = {}
    for kind, shape in shapes.items():
        count = int(np.prod(shape))
        weights[kind] = np.frombuffer(payload, "<f4", count, end).reshape(shape)
        end += 4 * count
    for kind, shape in shapes.items():
        count = int(np.prod(shape[2:]))
        masks[kind] = np.frombuffer(payload, np.uint8, count, end).reshape(shape[2:])
        end += count
    if end != len(payload):
        raise ValueError(f"This payload should have {end} bytes but has {len(payload)}.")
    return header, weights, masks


def _check(view: StepperView) -> None:
    trace = view.trace
    for kind in ATTENTION_KINDS:
        weights = trace.weights(kind)
        if kind == "cross" and not weights.size:
            raise ValueError("The trace has no cross-attention; the stepper needs it.")
        if not np.isfinite(weights).all():
            raise ValueError(f"The {kind} attention holds a value that is not a number; the model is broken.")
    if len(view.predicted_ids) != len(trace.read_tokens):
        raise ValueError(f"{len(view.predicted_ids)} predicted ids do not fit {len(trace.read_tokens)} decoder rows.")
    if view.log_sums is not None and view.log_sums.shape != (len(trace.read_tokens), len(TEMPERATURES)):
        raise ValueError(f"log_sums must be [{len(trace.read_tokens)}, {len(TEMPERATURES)}], one row per decoder row.")
    if len(view.src_unknown) > len(trace.src_tokens):
        raise ValueError(f"{len(view.src_unknown)} unknown marks do not fit {len(trace.src_tokens)} source tokens.")


def _sanity(trace: AttentionTrace) -> dict[str, Any]:
    """Checks of every head: rows that see a key sum to 1 (largest error); masked cells are 0 (number that are not)."""
    error, leaks, heads = 0.0, 0, 0
    for kind in ATTENTION_KINDS:
        weights, masked = trace.weights(kind), trace.mask(kind) != 0
        seeing = ~masked.all(axis=-1)
        off = np.abs(weights.sum(axis=-1, dtype=np.float64) - 1)[..., seeing]
        error = max(error, float(off.max(initial=0.0)))
        leaks += int(np.count_nonzero(weights[..., masked]))
        heads += weights.shape[0] * weights.shape[1]
    return {"error": float(f"{error:.1e}"), "leaks": leaks, "heads": heads}


def _numbers(values: Any) -> list[float]:
    """float32 values as the shortest JSON numbers that give the same float32 back."""
    return [float(str(value)) for value in np.asarray(values, dtype=np.float32)]


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))
