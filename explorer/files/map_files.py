"""Every kind of file that maps can be downloaded as: what it is called, its type, and what makes it."""

from __future__ import annotations

import io
import re
from typing import Any, NamedTuple

import numpy as np

from explorer.decoding.labelled_map import LabelledMap
from explorer.decoding.shown_maps import ShownMaps
from explorer.decoding.view_options import ViewOptions
from explorer.files.picture_drawing import draw
from explorer.files.tables import map_csv, maps_csv
from model.config import AttentionKind
from model.trace import AttentionTrace


class FileKind(NamedTuple):
    """A kind of file: its media type, and what to expect of it."""

    mime: str
    about: str


KINDS = {
    "png": FileKind("image/png", "An image with 300 dots per inch."),
    "svg": FileKind("image/svg+xml", "A vector drawing whose text stays text."),
    "pdf": FileKind("application/pdf", "A vector drawing for papers, with its fonts embedded."),
    "csv": FileKind("text/csv", "Every number on screen; masked cells are empty, and a column says why."),
    "npz": FileKind("application/octet-stream", "All heads of the kind in view, for numpy, with masks and tokens."),
}
ONE_MAP = ("png", "svg", "pdf", "csv")  # the kinds of file of a single map


def maps_file(kind: str, shown: ShownMaps, trace: AttentionTrace) -> bytes:
    """The maps on screen as a file."""
    if kind == "csv":
        return maps_csv(shown)
    if kind == "npz":
        return npz_bytes(trace, tuple(dict.fromkeys(place.kind for place in shown.places)))
    return draw(shown, kind)  # type: ignore[arg-type]


def map_file(kind: str, one: LabelledMap, caption: str) -> bytes:
    """A single map as a file: a figure with title, labels and `caption`, or its numbers."""
    if kind == "csv":
        return map_csv(one)
    return draw(ShownMaps(one.title, caption, (one,), (), ("",), ViewOptions(view="head"), row=0), kind)  # type: ignore[arg-type]


def npz_bytes(trace: AttentionTrace, kinds: tuple[AttentionKind, ...]) -> bytes:
    """Whole kinds as an attention file: [layer, head, query, key] float32, masks [query, key], and the tokens.

    The file holds all heads of the kinds on screen, between tokens even where words are shown; masked cells are 0, and
    the mask array names them. `explorer.decoding.attention_file` reads it, as does numpy without pickles.
    """
    arrays: dict[str, Any] = {kind: trace.weights(kind) for kind in kinds}
    arrays |= {f"{kind}_mask": trace.mask(kind) for kind in kinds}
    if any(kind != "decoder" for kind in kinds):
        arrays |= {"src_tokens": _strings(trace.src_tokens), "src_words": np.array(trace.src_words)}
    if any(kind != "encoder" for kind in kinds):
        arrays |= {
            "read_tokens": _strings(trace.read_tokens),
            "predicted_tokens": _strings(trace.predicted_tokens),
            "tgt_words": np.array(trace.tgt_words),
            "probabilities": trace.probabilities,
        }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _strings(tokens: tuple[str, ...]) -> np.ndarray[Any, Any]:
    return np.asarray(tokens, dtype=np.str_)


def maps_stem(shown: ShownMaps, model: str) -> str:
    """A file name without extension: model, kind, layer, head and view."""
    place = shown.places[0]
    parts = [model, "attention", place.kind]
    if shown.options.view != "heads":
        parts += [f"l{place.layer}", f"h{place.head}" if place.head else "mean", shown.options.view]
    return stem("-".join(parts))


def stem(name: str) -> str:
    """A name for a file, without extension, that every system accepts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "attention"
