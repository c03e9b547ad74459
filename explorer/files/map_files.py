"""Write maps as files: the kinds of file with their media types, and the functions that write them."""

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
from explorer.locale.messages import message
from model.config import AttentionKind
from model.trace import AttentionTrace


class FileKind(NamedTuple):
    """A kind of file: its media type and a description."""

    mime: str
    about: str


KINDS = {
    "png": FileKind("image/png", message("An image with 300 dots per inch.")),
    "svg": FileKind("image/svg+xml", message("A vector drawing whose text stays text.")),
    "pdf": FileKind("application/pdf", message("A vector drawing for papers, with its fonts embedded.")),
    "csv": FileKind("text/csv", message("Every number on screen; masked cells are empty, and a column says why.")),
    "npz": FileKind(
        "application/octet-stream", message("All heads of the kind in view, for numpy, with masks and tokens.")
    ),
}
PICTURES = ("png", "svg", "pdf")
ONE_MAP = (*PICTURES, "csv")  # the kinds of file of a single map


def maps_file(kind: str, view: ShownMaps, trace: AttentionTrace) -> bytes:
    """Write the maps on screen as a file."""
    if kind == "csv":
        return maps_csv(view)
    if kind == "npz":
        return npz_bytes(trace, tuple(dict.fromkeys(place.kind for place in view.places)))
    return draw(view, kind)  # type: ignore[arg-type]


def map_file(kind: str, map_: LabelledMap, caption: str) -> bytes:
    """Write a single map as a file: a figure with title, labels and `caption`, or its numbers."""
    return map_csv(map_) if kind == "csv" else picture_file(kind, map_.title, (map_,), caption)


def picture_file(kind: str, title: str, maps: tuple[LabelledMap, ...], caption: str) -> bytes:
    """Write one map, or two beside each other, as a figure with labels, `title` and `caption`."""
    view = ShownMaps(title, caption, maps, (), ("",) * len(maps), ViewOptions(view="head"), row=0)
    return draw(view, kind)  # type: ignore[arg-type]


def npz_bytes(trace: AttentionTrace, kinds: tuple[AttentionKind, ...]) -> bytes:
    """Write whole kinds as an attention file: [layer, head, query, key] float32, masks [query, key], and the tokens.

    The file contains all heads of the kinds on screen, between tokens even if words are shown; masked cells are 0, and
    the mask array says which they are. `explorer.decoding.attention_file` reads it, as does numpy without pickles.
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


def maps_stem(view: ShownMaps, model: str) -> str:
    """Make a file name without extension from model, kind, layer, head and view."""
    place = view.places[0]
    parts = [model, "attention", place.kind]
    if view.options.view != "heads":
        parts += [f"l{place.layer}", f"h{place.head}" if place.head else "mean", view.options.view]
    return stem("-".join(parts))


def stem(name: str) -> str:
    """Make a file name, without extension, that every system accepts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:100] or "attention"
