"""The film: one kind of attention, all heads at once, over the steps of a training run; moved through in the browser.

The block of bytes is laid out as in payload.py: length, JSON header, then the weights of one frame after the other,
each [layer, head, query, key], one byte a weight (255 = 1). One frame makes a still picture, without the slider.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from explorer.figures.palette import palettes
from explorer.text import printable
from model.config import AttentionKind
from model.trace import AttentionTrace

_HERE = Path(__file__).parent
_JS = _HERE / "js"
_SCRIPTS = ("trace.js", "colours.js", "film.js")


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
    """What to show and where to start. Frames count from 0, layers and heads from 1.

    `seq` names the film: the browser takes over the start below when it sees another one; after that the person
    decides.
    """

    seq: str
    kind: AttentionKind
    frames: tuple[Frame, ...]
    frame: int = 0
    layer: int = 1
    head: int = 1


@dataclass(frozen=True)
class Place:
    """Where the person is: frame from 0, layer and head from 1."""

    frame: int
    layer: int
    head: int


def encode(film: Film) -> bytes:
    """The film as the block of bytes described at the top of this file.

    Raises:
        ValueError: there is no frame, or a frame's labels do not fit its weights.
    """
    if not film.frames:
        raise ValueError("A film needs at least one frame.")
    layers, heads = film.frames[0].weights.shape[:2]
    for frame in film.frames:
        if frame.weights.shape != (layers, heads, len(frame.rows), len(frame.columns)):
            raise ValueError(
                f"The weights {frame.weights.shape} of step {frame.step} do not fit {layers} layers of {heads} heads, "
                f"{len(frame.rows)} queries and {len(frame.columns)} keys."
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
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    weights = (np.rint(np.clip(frame.weights, 0, 1) * 255).astype(np.uint8).tobytes() for frame in film.frames)
    return struct.pack("<I", len(text)) + text + b"".join(weights)


def _script() -> str:
    lines = [line.strip() for name in _SCRIPTS for line in (_JS / name).read_text(encoding="utf-8").splitlines()]
    code = "\n".join(line for line in lines if line and not line.startswith("//"))
    return f"const PALETTES={json.dumps(palettes(), separators=(',', ':'))};\n{code}\n"


_component = st.components.v2.component(
    "headlight_film",
    html=(_HERE / "html" / "film.html").read_text(encoding="utf-8"),
    css=(_HERE / "css" / "film.css").read_text(encoding="utf-8"),
    js=_script(),
)


def film_view(film: Film, *, key: str) -> Place:
    """Draw the film and return where the person is; the browser reports 250 ms after the last move.

    Raises:
        ValueError: the frames do not fit together (see :func:`encode`).
    """
    result = _component(key=key, data=encode(film), on_at_change=_nothing, width="stretch", height="content")
    return _place(result.get("at"), film)


def place_of(film: Film, *, key: str) -> Place:
    """Where the person was when the browser last reported; the start, if it has not for this film."""
    state = st.session_state.get(key)
    return _place(state.get("at") if state else None, film)


def _place(message: Any, film: Film) -> Place:
    """A browser's message as a place that exists: what a browser says may be anything."""
    at = message if isinstance(message, dict) and message.get("seq") == film.seq else {}
    layers, heads = film.frames[0].weights.shape[:2]
    limits = {"frame": (0, len(film.frames) - 1), "layer": (1, layers), "head": (1, heads)}
    found = {}
    for name, (low, high) in limits.items():
        value = at.get(name)
        found[name] = min(max(value if type(value) is int else getattr(film, name), low), high)
    return Place(**found)


def _nothing() -> None:
    """Registers the value with Streamlit, which then always exists in the result."""
