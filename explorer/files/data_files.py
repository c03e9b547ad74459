"""The numbers on screen as files: CSV with a mask column, and attention files (NPZ) with mask arrays."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np

from explorer.decoding.shown_maps import ShownMaps
from model.config import AttentionKind
from model.trace import FUTURE, VISIBLE, AttentionTrace

CSV_COLUMNS = ("kind", "layer", "head", "query", "predicts", "key", "weight", "mask")
_MASKS = {VISIBLE: "", FUTURE: "future"}


def mask_word(code: int) -> str:
    """Why a cell is masked: "future" or "padding"; "" where it is visible."""
    return _MASKS.get(int(code), "padding")


def csv_bytes(shown: ShownMaps) -> bytes:
    """Every cell of the maps on screen, one row per cell, in UTF-8; weights are empty where masked.

    Weights are the shortest decimals that read back as the same float32. Layers, heads and positions count from 1; head
    0 is the mean over the heads. Each token follows its position ("3 the"), so that repeated words stay apart and no
    token can start a spreadsheet formula.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for place, one in zip(shown.places, shown.maps, strict=True):
        rows, columns = one.row_labels, one.column_labels
        for query, label in enumerate(rows):
            # Row t predicts the token that row t + 1 reads.
            predicts = f"{query + 2} {one.predicted[query]}" if one.predicted else ""
            for key, column in enumerate(columns):
                code = int(one.mask[query, key])
                weight = "" if code != VISIBLE else str(one.values[query, key])
                cell = (label, predicts, column, weight, mask_word(code))
                writer.writerow((place.kind, place.layer, place.head, *cell))
    # The byte order mark tells spreadsheets that this is UTF-8.
    return text.getvalue().encode("utf-8-sig")


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


def file_stem(shown: ShownMaps, model: str) -> str:
    """A file name without extension that every system accepts: model, kind, layer, head and view."""
    place = shown.places[0]
    parts = [model, "attention", place.kind]
    if shown.options.view != "heads":
        parts += [f"l{place.layer}", f"h{place.head}" if place.head else "mean", shown.options.view]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).strip("-.")[:100] or "attention"
