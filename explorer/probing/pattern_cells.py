"""The places whose share of the weight tells heads apart, as cells of an attention map; and which keys are sinks.

Everything that is a share of the weight ("how much goes to the previous token?") is the same formula over other cells,
so that a head, uniform attention and an untrained model are measured by one yardstick.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from model.analysis.recorded_batches import Observed
from model.config import SPECIALS, AttentionKind
from model.data.task import Alignment
from model.trace import VISIBLE

Cells = NDArray[np.bool_]


def visible(observed: Observed, kind: AttentionKind) -> Cells:
    """[query, key]: which cells are open."""
    seen: Cells = observed.trace.mask(kind) == VISIBLE
    return seen


def choosing_rows(observed: Observed, kind: AttentionKind) -> Cells:
    """[query]: rows that see more than one key; the others could not look anywhere else."""
    rows: Cells = visible(observed, kind).sum(axis=-1) > 1
    return rows


def sink_keys(observed: Observed, kind: AttentionKind) -> Cells:
    """[key]: where weight is parked that is not needed: the first key and, in the source, <eos>.

    Attention to such places often says "nothing to see here" (Clark et al. 2019, §3.2; Xiao et al. 2023).
    """
    keys = np.zeros(observed.trace.mask(kind).shape[1], dtype=np.bool_)
    keys[0] = True
    if kind != "decoder":
        keys[-1] = True
    return keys


def places(observed: Observed, kind: AttentionKind) -> dict[str, Cells]:
    """[query, key] cells by name, open ones in rows that see more than one key.

    previous, itself, next: relative to the query (Clark et al. 2019, §3.1). first, end: the first key (<sos> in the
    decoder), <eos> of the source. punctuation: other tokens that are punctuation only. duplicate: other copies of the
    token in the encoder, earlier ones in the decoder (Olsson et al. 2022 call heads that look there duplicate-token
    heads). rare: the source tokens that training saw least often in this sentence (Voita et al. 2019, §5.3). diagonal,
    mirror: as far along the source as the row is along the target, from its beginning or from its end. aligned,
    aligned_input: the known right source tokens of the token that the row predicts, or reads
    (see :func:`aligned_cells`).
    """
    shape = observed.trace.mask(kind).shape
    found = _cross(observed, shape) if kind == "cross" else _own(observed, kind, shape)
    open_ = visible(observed, kind) & choosing_rows(observed, kind)[:, None]
    return {name: cells & open_ for name, cells in found.items()}


def _own(observed: Observed, kind: AttentionKind, shape: tuple[int, ...]) -> dict[str, Cells]:
    n = shape[0]
    ids = observed.src_ids if kind == "encoder" else observed.read_ids
    tokens = observed.trace.src_tokens if kind == "encoder" else observed.trace.read_tokens
    distance = np.arange(n)[None, :] - np.arange(n)[:, None]
    same = (ids[:, None] == ids[None, :]) & (ids >= len(SPECIALS))[None, :]
    found = {
        "previous": distance == -1,
        "itself": distance == 0,
        "next": distance == 1,
        "first": _columns(np.arange(n) == 0, n),
        # A mark that looks at itself is no head for punctuation: it looks at itself.
        "punctuation": _columns(punctuation(tokens), n) & (distance != 0),
        "duplicate": same & (distance != 0 if kind == "encoder" else distance < 0),
    }
    if kind == "encoder":
        found["end"] = _columns(np.arange(n) == n - 1, n)
        found["rare"] = _columns(rarest(observed), n)
    return found


def _cross(observed: Observed, shape: tuple[int, ...]) -> dict[str, Cells]:
    n_rows, n_keys = shape
    keys = np.arange(n_keys)
    found = {
        "diagonal": diagonal(n_rows, n_keys)[:, None] == keys,
        "mirror": mirror(n_rows, n_keys)[:, None] == keys,
        "first": _columns(keys == 0, n_rows),
        "end": _columns(keys == n_keys - 1, n_rows),
        "punctuation": _columns(punctuation(observed.trace.src_tokens), n_rows),
        "rare": _columns(rarest(observed), n_rows),
    }
    if observed.alignment is not None:
        found["aligned"] = aligned_cells(observed.alignment, n_rows, n_keys)
        found["aligned_input"] = aligned_cells(observed.alignment, n_rows, n_keys, read=True)
    return found


def diagonal(n_rows: int, n_keys: int) -> NDArray[np.int64]:
    """[query]: the key as far along as the row, round(t · (keys - 1) / (rows - 1)); both ends meet."""
    found: NDArray[np.int64] = np.rint(np.arange(n_rows) * (n_keys - 1) / max(n_rows - 1, 1)).astype(np.int64)
    return found


def mirror(n_rows: int, n_keys: int) -> NDArray[np.int64]:
    """[query]: the same counted from the other end; the last row and key are the ends themselves, and stay."""
    rows = np.arange(n_rows)
    found = np.rint((n_keys - 2) - rows * (n_keys - 2) / max(n_rows - 2, 1)).astype(np.int64)
    found[-1] = n_keys - 1
    clipped: NDArray[np.int64] = np.clip(found, 0, n_keys - 1)
    return clipped


def aligned_cells(alignment: Alignment, n_rows: int, n_keys: int, *, read: bool = False) -> Cells:
    """[query, key]: the right source tokens of what each row predicts or, with `read`, of what it has just read.

    Row t predicts target token t and row t + 1 reads it, so the two choices differ by one row. Attention of the row
    that reads a token often aligns better (Chen et al. 2020, Shift-Att).
    """
    cells = np.zeros((n_rows, n_keys), dtype=np.bool_)
    for row, positions in enumerate(alignment, start=1 if read else 0):
        for position in positions:
            if row < n_rows and 0 <= position < n_keys:
                cells[row, position] = True
    return cells


def punctuation(tokens: Sequence[str]) -> Cells:
    """[token]: nothing but punctuation marks (Unicode category P); specials such as <eos> are none."""
    return np.array(
        [
            token not in SPECIALS and bool(token) and all(unicodedata.category(letter)[0] == "P" for letter in token)
            for token in tokens
        ],
        dtype=np.bool_,
    )


def rarest(observed: Observed) -> Cells:
    """[src]: the tokens that training saw least often, <eos> aside; none where all were seen equally often."""
    counts = observed.src_counts[:-1]
    rare = np.zeros(len(observed.src_counts), dtype=np.bool_)
    if len(counts) and counts.min() < counts.max():
        rare[:-1] = counts == counts.min()
    return rare


def _columns(keys: Cells, n_rows: int) -> Cells:
    return np.broadcast_to(keys, (n_rows, len(keys)))
