"""The numbers shown for one cell, parsed from the displayed strings and recomputed from them alone."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.aggregates import head_norms
from explorer.decoding.cell import Cell, cell, cell_caption
from model.analysis.head_details import HeadDetails, RowDetails, head_details
from model.edits import HeadEdit, HeadEdits
from tests.explorer.decoding.test_aggregates import PATH, SOURCE
from tests.tiny import tiny_model

LOWEST = np.finfo(np.float32).min


def shown_to(value: Decimal | float, like: str) -> str:
    text = f"{value:.{len(like.partition('.')[2])}f}"
    return text.removeprefix("-") if Decimal(text) == 0 else text


def check(found: Cell) -> None:
    """Every number on screen follows from those before it, to the last digit that is shown."""
    for d in found.dimensions:
        product, weighted = d["query × key"], d["weight × value"]
        assert product == shown_to(Decimal(d["query"]) * Decimal(d["key"]), product)
        assert weighted == shown_to(Decimal(found.weight) * Decimal(d["value"]), weighted)
    assert found.total == shown_to(sum(Decimal(d["query × key"]) for d in found.dimensions), found.total)
    bias = Decimal(found.bias or "0")
    assert found.score == shown_to(Decimal(found.total) / Decimal(found.divisor) + bias, found.score)
    [own] = [competitor for competitor in found.row if competitor.key == found.key]
    assert own.score == found.score
    seen = [competitor for competitor in found.row if not competitor.masked]
    highest = max((Decimal(competitor.score) for competitor in seen), default=Decimal(0))
    for competitor in seen:
        raised = (Decimal(competitor.score) - highest).exp()
        assert competitor.exponential == shown_to(raised, competitor.exponential)
    total = sum(Decimal(competitor.exponential) for competitor in seen)
    for competitor in seen:
        if not found.edited:
            assert competitor.weight == shown_to(Decimal(competitor.exponential) / total, competitor.weight)
    squares = sum(Decimal(d["weight × value"]) ** 2 for d in found.dimensions)
    assert found.norm == shown_to(squares.sqrt(), found.norm)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "changes",
    [{}, {"scale_scores": False}, {"norm_first": True}, {"d_model": 64}, {"positions": "rope"}, {"positions": "alibi"}],
)
def test_the_shown_numbers_give_the_weight_that_the_model_used(changes: dict[str, object], seed: int) -> None:
    model = tiny_model(seed=seed, **changes)
    sites = [("encoder", 1, 1), ("decoder", 2, 3), ("cross", 0, 2)]
    for details in head_details(model, SOURCE, PATH, sites).values():
        norms = head_norms(details, max(len(row.weights) for row in details.rows))
        for query, row in enumerate(details.rows):
            for key in range(len(row.weights)):
                found = cell(details, query, key)
                assert found.reproduced
                check(found)
                assert found.weight == shown_to(float(row.weights[key]), found.weight)
                assert float(found.norm) == pytest.approx(np.linalg.norm(row.weights[key] * row.values[key]), abs=5e-4)
                assert float(found.written) == pytest.approx(norms[query, key], abs=1e-4)
                assert (found.divisor == "1") == (changes.get("scale_scores") is False)
                assert len(found.dimensions) == row.query.size
                distance = changes.get("positions") == "alibi" and details.kind != "cross"
                assert bool(found.bias) == distance


def planted(
    scores_scale: float, n_keys: int, d_head: int, seed: int, masked: tuple[int, ...] = (), *, scaled: bool = True
) -> HeadDetails:
    """A head over random vectors, computed in float32 as the model does it."""
    rng = np.random.default_rng(seed)
    query, keys, values = (
        (scores_scale * rng.normal(size=shape)).astype(np.float32)
        for shape in ((d_head,), (n_keys, d_head), (n_keys, d_head))
    )
    scores = keys @ query / (np.float32(np.sqrt(d_head)) if scaled else np.float32(1))
    closed = scores.copy()
    closed[list(masked)] = LOWEST
    raised = np.exp(closed - closed.max())
    raised[list(masked)] = 0
    weights = raised / raised.sum() if raised.sum() else raised
    row = RowDetails(query, keys, values, scores, closed, weights, weights @ values)
    return HeadDetails("cross", 0, 0, (row,), rng.normal(size=(d_head, 4)).astype(np.float32), scaled)


@given(st.floats(0.1, 3), st.integers(1, 60), st.sampled_from([1, 8, 64]), st.integers(0, 10**6))
def test_it_holds_for_sharp_flat_short_and_long_rows(scale: float, n_keys: int, d_head: int, seed: int) -> None:
    details = planted(scale, n_keys, d_head, seed)
    found = cell(details, 0, seed % n_keys)
    check(found)
    assert found.reproduced
    assert [c.weight for c in found.row] == [shown_to(float(w), found.weight) for w in details.rows[0].weights]


def test_a_masked_key_has_a_score_but_no_part_in_the_softmax() -> None:
    details = planted(1, 5, 8, 0, masked=(1, 3))
    found = cell(details, 0, 3)
    assert (found.masked, found.weight) == (True, "0.0000")
    assert [c.masked for c in found.row] == [False, True, False, True, False]
    assert found.row[3].exponential == found.row[3].weight == ""
    assert float(found.row[3].score) == pytest.approx(float(details.rows[0].scores[3]), abs=1e-3)
    assert sum(float(c.weight or 0) for c in found.row) == pytest.approx(1, abs=1e-3)
    check(cell(details, 0, 2))
    blind = cell(planted(1, 2, 4, 0, masked=(0, 1)), 0, 1)
    assert (blind.masked, blind.weight) == (True, "0.0000"), "a row without any visible key"


def test_an_edited_row_shows_both_weights() -> None:
    edit = HeadEdits((HeadEdit("decoder", 0, 1, "uniform"),))
    details = head_details(tiny_model(), SOURCE, PATH, [("decoder", 0, 1)], edit=edit)["decoder", 0, 1]
    found = cell(details, 3, 1)
    assert (found.edited, found.weight) == (True, "0.2500")
    assert found.softmax != found.weight
    caption = cell_caption(found, "a", "b")
    assert "A head edit replaced this row: the weight that was used is 0.2500" in caption
    for number in (found.total, found.score, found.norm, found.head_output, found.divisor):
        assert number in caption
    check(found)


@pytest.mark.parametrize(("query", "key"), [(1, 0), (-1, 0), (0, 4), (0, -1)])
def test_a_cell_that_is_not_there_is_refused_with_a_message(query: int, key: int) -> None:
    with pytest.raises(ValueError, match=r"no row|did not exist yet"):
        cell(planted(1, 4, 8, 0), query, key)
