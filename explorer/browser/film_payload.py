"""What the film shows: one kind of attention, all heads at once, at several steps of a training run.

The message (wire.py) has an array for each frame: its weights [layer, head, query, key], one byte a weight (255 = 1).
One frame makes a still picture, without the slider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.locale.text import plural, printable
from model.config import AttentionKind
from model.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class Frame:
    """The attention of one moment of training.

    Shapes: weights [layer, head, query, key] float, rows sum to 1.
    """

    step: int
    weights: NDArray[np.float32]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    predicted: tuple[str, ...] = ()

    @classmethod
    def of(cls, trace: AttentionTrace, kind: AttentionKind, step: int) -> Frame:
        """One kind of attention of a recorded decoding; rows that predict something say what."""
        rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
        columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
        return cls(step, trace.weights(kind), rows, columns, () if kind == "encoder" else trace.predicted_tokens)


@dataclass(frozen=True)
class Film:
    """What to show, and the position at the start. Frames count from 0, layers and heads from 1.

    `seq` names the film. The browser adopts the start below when it sees a new `seq`; after that the user decides.
    """

    seq: str
    kind: AttentionKind
    frames: tuple[Frame, ...]
    frame: int = 0
    layer: int = 1
    head: int = 1


@dataclass(frozen=True)
class Place:
    """A position in the film: the frame counts from 0, layer and head from 1."""

    frame: int
    layer: int
    head: int


def encode(film: Film) -> bytes:
    """The film as the message described at the top of this file.

    Raises:
        ValueError: there is no frame, or a frame's labels do not fit its weights.
    """
    if not film.frames:
        raise ValueError("A film needs at least one frame.")
    layers, heads = film.frames[0].weights.shape[:2]
    for frame in film.frames:
        if frame.weights.shape != (layers, heads, len(frame.rows), len(frame.columns)):
            raise ValueError(
                f"The weights {frame.weights.shape} of step {frame.step} do not fit {plural(layers, 'layer')} of "
                f"{plural(heads, 'head')}, {plural(len(frame.rows), 'query')} and {plural(len(frame.columns), 'key')}."
            )
    header = {
        "seq": film.seq,
        "kind": film.kind,
        "layers": layers,
        "heads": heads,
        "place": {"frame": film.frame, "layer": film.layer, "head": film.head},
        "frames": [
            {
                "step": frame.step,
                "rows": [printable(token) for token in frame.rows],
                "columns": [printable(token) for token in frame.columns],
                "predicted": [printable(token) for token in frame.predicted],
            }
            for frame in film.frames
        ],
    }
    weights = (np.rint(np.clip(frame.weights, 0, 1) * 255).astype(np.uint8) for frame in film.frames)
    return wire.write(header, {f"{i}": array for i, array in enumerate(weights)})


def place_from(message: Any, film: Film) -> Place:
    """A browser's message as a position that exists. Messages are not trusted: each value is checked."""
    at = message if isinstance(message, dict) and message.get("seq") == film.seq else {}
    layers, heads = film.frames[0].weights.shape[:2]
    limits = {"frame": (0, len(film.frames) - 1), "layer": (1, layers), "head": (1, heads)}
    place = {}
    for name, (low, high) in limits.items():
        value = at.get(name)
        place[name] = min(max(value if type(value) is int else getattr(film, name), low), high)
    return Place(**place)
