"""Attention patterns (previous token, diagonal, aligned …) as cells of an attention map, and which keys are sinks.

Every share of the weight ("how much goes to the previous token?") is the same formula over different cells, so heads,
uniform attention and untrained models are all measured in the same way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.attention_maps import diagonal, mirror
from model.analysis.recorded_batches import Observed
from model.analysis.word_alignment import gold_cells
from model.config import SPECIALS, AttentionKind
from model.data.task import Alignment
from model.trace import VISIBLE

Cells = NDArray[np.bool_]


def visible(observed: Observed, kind: AttentionKind) -> Cells:
    """[query, key]: the cells that are not masked."""
    seen: Cells = observed.trace.mask(kind) == VISIBLE
    return seen


def choosing_rows(observed: Observed, kind: AttentionKind) -> Cells:
    """[query]: rows that see more than one key; the others have no choice."""
    rows: Cells = visible(observed, kind).sum(axis=-1) > 1
    return rows


def sink_keys(observed: Observed, kind: AttentionKind) -> Cells:
    """[key]: the sinks, which collect weight that is not needed: the first key and, in the source, <eos>.

    Attention to a sink is often a way of attending to nothing (Clark et al. 2019, §3.2; Xiao et al. 2023).
    """
    keys = np.zeros(observed.trace.mask(kind).shape[1], dtype=np.bool_)
    keys[0] = True
    if kind != "decoder":
        keys[-1] = True
    return keys


def patterns(observed: Observed, kind: AttentionKind) -> dict[str, Cells]:
    """[query, key] cells of each pattern by name: visible ones, in rows that see more than one key.

    previous, itself, next: relative to the query (Clark et al. 2019, §3.1). first, end: the first key (<sos> in the
    decoder), <eos> of the source. punctuation: other tokens that consist of punctuation. duplicate: other copies of the
    token in the encoder, earlier ones in the decoder (duplicate-token heads: Olsson et al. 2022). induction: the token
    after such a copy, unless that is the query itself (induction heads: Olsson et al. 2022). rare: the source
    tokens of this sentence that are rarest in the training data (Voita et al. 2019, §5.3). diagonal, mirror: as far
    along the source as the row is along the target, from its beginning or from its end. aligned, aligned_input: the
    right source tokens, where known, of the token that the row predicts or reads
    (:func:`model.analysis.word_alignment.gold_cells`); in a decoder alone, these stand in its prompt.
    """
    shape = observed.trace.mask(kind).shape
    cells_by_name = _cross(observed, shape) if kind == "cross" else _self(observed, kind, shape)
    counted = visible(observed, kind) & choosing_rows(observed, kind)[:, None]
    return {name: cells & counted for name, cells in cells_by_name.items()}


def _self(observed: Observed, kind: AttentionKind, shape: tuple[int, ...]) -> dict[str, Cells]:
    n = shape[0]
    ids = observed.src_ids if kind == "encoder" else observed.read_ids
    tokens = observed.trace.src_tokens if kind == "encoder" else observed.trace.read_tokens
    distance = np.arange(n)[None, :] - np.arange(n)[:, None]
    same = (ids[:, None] == ids[None, :]) & (ids >= len(SPECIALS))[None, :]
    cells = {
        "previous": distance == -1,
        "itself": distance == 0,
        "next": distance == 1,
        "first": _columns(np.arange(n) == 0, n),
        # A punctuation mark that looks at itself counts as "itself", not as punctuation.
        "punctuation": _columns(punctuation(tokens), n) & (distance != 0),
        "duplicate": same & (distance != 0 if kind == "encoder" else distance < 0),
        "induction": after(same & (distance != 0 if kind == "encoder" else distance < 0)) & (distance != 0),
    }
    if kind == "encoder":
        cells["end"] = _columns(np.arange(n) == n - 1, n)
        cells["rare"] = _columns(rarest(observed), n)
    elif not observed.trace.cross.size and observed.alignment is not None:
        cells |= _aligned(observed.alignment, n, n, first=n - len(observed.alignment) - 1)
    return cells


def _aligned(alignment: Alignment, n_rows: int, n_keys: int, first: int = 0) -> dict[str, Cells]:
    """The right source tokens of what rows predict and read; row `first` predicts the first target token."""
    cells = {name: np.zeros((n_rows, n_keys), dtype=np.bool_) for name in ("aligned", "aligned_input")}
    for name, own in cells.items():
        own[first:] = gold_cells(alignment, n_rows - first, n_keys, read=name == "aligned_input")
    return cells


def after(cells: Cells) -> Cells:
    """Shift cells to the next key: [query, key] -> [query, key]."""
    shifted = np.zeros_like(cells)
    shifted[:, 1:] = cells[:, :-1]
    return shifted


def _cross(observed: Observed, shape: tuple[int, ...]) -> dict[str, Cells]:
    n_rows, n_keys = shape
    keys = np.arange(n_keys)
    cells = {
        "diagonal": diagonal(n_rows, n_keys)[:, None] == keys,
        "mirror": mirror(n_rows, n_keys)[:, None] == keys,
        "first": _columns(keys == 0, n_rows),
        "end": _columns(keys == n_keys - 1, n_rows),
        "punctuation": _columns(punctuation(observed.trace.src_tokens), n_rows),
        "rare": _columns(rarest(observed), n_rows),
    }
    if observed.alignment is not None:
        cells |= _aligned(observed.alignment, n_rows, n_keys)
    return cells


def punctuation(tokens: Sequence[str]) -> Cells:
    """[token]: tokens of punctuation marks only (Unicode category P); specials such as <eos> do not count."""
    return np.array(
        [
            token not in SPECIALS and bool(token) and all(unicodedata.category(letter)[0] == "P" for letter in token)
            for token in tokens
        ],
        dtype=np.bool_,
    )


def rarest(observed: Observed) -> Cells:
    """[src]: the tokens that are rarest in the training data, without <eos>; none if all are equally frequent."""
    counts = observed.src_counts[:-1]
    rare = np.zeros(len(observed.src_counts), dtype=np.bool_)
    if len(counts) and counts.min() < counts.max():
        rare[:-1] = counts == counts.min()
    return rare


def _columns(keys: Cells, n_rows: int) -> Cells:
    return np.broadcast_to(keys, (n_rows, len(keys)))


Floats = NDArray[np.float64]

LEAST_ROWS = 3  # rows with a partner that are needed for shuffling


def partners(observed: Observed, *, read: bool = False) -> Cells:
    """[query, key]: the source tokens that translate the token that a row predicts or, with `read`, has just read.

    They come from sure links between words if there are links, otherwise from the alignment of tokens.
    """
    n_rows, n_keys = observed.trace.cross_mask.shape
    if observed.links is None:
        return gold_cells(observed.alignment or (), n_rows, n_keys, read=read)
    cells = np.zeros((n_rows, n_keys), dtype=np.bool_)
    gold = observed.links
    words = gold.targets.T.astype(np.int64) @ gold.sure  # [tgt, source word]
    first = 1 if read else 0
    rows = words @ gold.sources > 0  # [tgt, src]
    cells[first : first + len(rows), : rows.shape[1]] = rows[: n_rows - first]
    return cells


def lexical_cells(observed: Observed, *, read: bool = False) -> tuple[Floats, Floats, Cells] | None:
    """The factors of a lexical score: 1 on the partners of a row, minus the share of shuffled partners at each cell.

    Returns two arrays [query, key], which shuffle distances from the diagonal and from the mirrored diagonal (of a
    head's two scores the smaller one counts), and [query], the rows that have a partner. None if fewer than
    `LEAST_ROWS` have one.
    """
    own = partners(observed, read=read)
    has_partner: Cells = np.atleast_1d(own.any(axis=1))
    rows = np.flatnonzero(has_partner)
    if len(rows) < LEAST_ROWS:
        return None
    n_rows, n_keys = own.shape
    # The row that reads a token is one below the row that predicts it.
    shift = 1 if read else 0
    cells = []
    for reference in (diagonal(n_rows, n_keys), mirror(n_rows, n_keys)):
        at = reference[rows - shift]
        row_index, partner = np.nonzero(own[rows])  # the partners of all rows, concatenated
        distances = partner - at[row_index]
        keys = np.clip(at[:, None] + distances[None, :], 0, n_keys - 2)  # [row, partner], never <eos>
        others = np.ones(keys.shape)
        others[row_index, np.arange(len(row_index))] = 0.0  # a row is not compared with its own partners
        cell = rows[:, None] * n_keys + keys
        shuffled = np.bincount(cell.ravel(), weights=others.ravel(), minlength=own.size).reshape(own.shape)
        cells.append(own - shuffled / (len(rows) - 1))
    return cells[0], cells[1], has_partner
