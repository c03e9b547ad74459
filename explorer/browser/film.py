"""The film: all heads of one kind of attention over the steps of a training run, played in the browser.

The message (wire.py) has an array for each frame: its weights [layer, head, query, key], exact, because a rounded
weight could be 0, which the maps write for masked cells only.
A single frame is drawn as a still picture, without the slider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.registration import component, from_browser, nothing
from explorer.browser.structs import FilmHeader, FilmPlace, FilmReport, FrameHeader
from explorer.decoding.labelled_map import head_caption, head_table
from explorer.locale.text import plural, printable
from model.config import AttentionKind
from model.trace import AttentionTrace

_component = component("film", "film")


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

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The labels of its rows, of its columns, and of what its rows predict."""
        return self.rows, self.columns, self.predicted

    @classmethod
    def of(cls, trace: AttentionTrace, kind: AttentionKind, step: int) -> Frame:
        """A frame from one kind of attention of a recorded decoding; decoder rows also name what they predict."""
        rows = trace.src_tokens if kind == "encoder" else trace.read_tokens
        columns = trace.read_tokens if kind == "decoder" else trace.src_tokens
        return cls(step, trace.weights(kind), rows, columns, () if kind == "encoder" else trace.predicted_tokens)

    @property
    def layers(self) -> int:
        """The number of layers."""
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        """The number of heads of a layer."""
        return self.weights.shape[1]

    def caption(self, kind: AttentionKind, layer: int, head: int) -> str:
        """A sentence on one head, counted from 1."""
        weights = self.weights[layer - 1, head - 1]
        return head_caption(weights, self.rows, self.columns, causal=kind == "decoder")

    def table(self, layer: int, head: int) -> list[dict[str, Any]]:
        """The largest weights of one head, counted from 1, in each of its rows."""
        return head_table(self.weights[layer - 1, head - 1], self.rows, self.columns, self.predicted)


@dataclass(frozen=True)
class Film:
    """The frames, and the position at the start: layer and head (from 1), and the frame (from 0).

    `seq` names the film. The browser goes to the start when it receives a new `seq`; after that the user decides.
    """

    seq: str
    kind: AttentionKind
    frames: tuple[Frame, ...]
    layer: int = 1
    head: int = 1
    frame: int = 0


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
    header = FilmHeader(
        seq=film.seq,
        kind=film.kind,
        layers=layers,
        heads=heads,
        place=FilmPlace(film.frame, film.layer, film.head),
        frames=[
            FrameHeader(frame.step, *([printable(token) for token in tokens] for tokens in frame.labels))
            for frame in film.frames
        ],
    )
    return wire.write(vars(header), {f"{i}": frame.weights for i, frame in enumerate(film.frames)})


def place_from(message: Any, film: Film) -> FilmPlace:
    """The position in a browser's message, clamped to the film; the start, if the message is not about this film."""
    at = from_browser(FilmReport, message, film.seq) or FilmPlace(film.frame, film.layer, film.head)
    layers, heads = film.frames[0].weights.shape[:2]
    frame = max(0, min(len(film.frames) - 1, at.frame))
    return FilmPlace(frame, max(1, min(layers, at.layer)), max(1, min(heads, at.head)))


def film_view(film: Film, *, key: str) -> FilmPlace:
    """Draw the film and return the position, which the browser reports 250 ms after the last move.

    Raises:
        ValueError: the frames do not fit together (see :func:`encode`).
    """
    return place_from(_component(key=key, data=encode(film), on_at_change=nothing).get("at"), film)
