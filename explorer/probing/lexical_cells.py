"""The lexical pattern: weight on the word that a row's word translates, beyond what its position alone would give.

A head that looks along the diagonal also hits translations, since sentences of two languages run side by side. So each
row's partners are compared with those of the other rows, put as far from the diagonal as they are there: a head that
knows positions but no words has as much weight on these shuffled partners as on the right ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.probing.pattern_cells import diagonal, mirror
from model.analysis.recorded_batches import Observed
from model.analysis.word_alignment import gold_cells

Floats = NDArray[np.float64]
Cells = NDArray[np.bool_]

LEAST_ROWS = 3  # rows with a partner; fewer cannot be shuffled


def partners(observed: Observed, *, read: bool = False) -> Cells:
    """[query, key]: the source tokens that translate the token that a row predicts or, with `read`, has just read.

    By sure links between words where there are any, otherwise by the alignment of tokens.
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
    """What a head's weights are multiplied by: 1 on the partners of a row, minus the share of shuffled partners.

    Two of [query, key], with distances from the diagonal and from the mirrored diagonal (of a head's two scores the
    smaller one counts), and [query]: the rows that have a partner. None where they are fewer than `LEAST_ROWS`.
    """
    own = partners(observed, read=read)
    having: Cells = np.atleast_1d(own.any(axis=1))
    rows = np.flatnonzero(having)
    if len(rows) < LEAST_ROWS:
        return None
    n_rows, n_keys = own.shape
    # The row that reads a token stands one further down than the row that predicts it.
    shift = 1 if read else 0
    cells = []
    for reference in (diagonal(n_rows, n_keys), mirror(n_rows, n_keys)):
        at = reference[rows - shift]
        of, partner = np.nonzero(own[rows])  # the partners of all rows, one after the other
        distances = partner - at[of]
        keys = np.clip(at[:, None] + distances[None, :], 0, n_keys - 2)  # [row, partner], never <eos>
        others = np.ones(keys.shape)
        others[of, np.arange(len(of))] = 0.0  # a row is not its own comparison
        cell = rows[:, None] * n_keys + keys
        shuffled = np.bincount(cell.ravel(), weights=others.ravel(), minlength=own.size).reshape(own.shape)
        cells.append(own - shuffled / (len(rows) - 1))
    return cells[0], cells[1], having
