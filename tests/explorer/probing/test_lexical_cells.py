"""The lexical pattern against loops over rows, partners and shuffled partners."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.decoding.attention_maps import diagonal, mirror
from explorer.probing.pattern_cells import lexical_cells, partners
from tests.explorer.probed import observed

ALIGNMENTS = [
    ((0,), (2,), (1, 3), (), (5,), (7,), (6,)),
    ((3,), (0, 1), (2,), (4,), (), (6,), (5, 7)),
    ((7,), (6,), (5,), (4,), (3,), (2,), (1,)),
]


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_shuffled_partners_are_those_of_the_other_rows(alignment: tuple[tuple[int, ...], ...], read: bool) -> None:
    item = observed(9, 8, alignment=alignment)
    own, found = partners(item, read=read), lexical_cells(item, read=read)
    assert found is not None
    *tables, having = found
    rows = [row for row in range(8) if own[row].any()]
    assert np.flatnonzero(having).tolist() == rows
    for table, reference in zip(tables, (diagonal(8, 9), mirror(8, 9)), strict=True):
        expected = own.astype(np.float64)
        for row in rows:
            for other in rows:
                if other == row:
                    continue
                for key in np.flatnonzero(own[other]):
                    # As far from where this row stands as the other's partner is from where the other stands; the row
                    # that reads a token stands one further down than the row that predicts it.
                    at, there = (int(reference[one - int(read)]) for one in (row, other))
                    put = min(max(at + int(key) - there, 0), 7)
                    expected[row, put] -= 1 / (len(rows) - 1)
        assert np.allclose(table, expected)


def test_two_rows_cannot_be_shuffled() -> None:
    assert lexical_cells(observed(9, 8, alignment=((0,), (1,), (), (), (), (), ()))) is None
