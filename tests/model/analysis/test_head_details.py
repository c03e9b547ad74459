"""Everything behind one head's weights, for a decoding that was recorded before."""

from __future__ import annotations

import numpy as np
import pytest

from model.analysis.head_details import head_details, output_projection
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import EditError, HeadEdit, HeadEdits
from tests.explorer.decoding.test_aggregates import PATH, TARGET, encoding
from tests.tiny import tiny_model

SITES = [("encoder", 1, 1), ("decoder", 2, 3), ("cross", 0, 0)]


@pytest.mark.parametrize("changes", [{}, {"scale_scores": False}, {"causal": False}, {"norm_first": True}])
@pytest.mark.parametrize("path", [PATH, PATH[:-1], PATH[:1]])
def test_the_details_are_of_the_recorded_decoding_bit_for_bit(changes: dict[str, bool], path: tuple[int, ...]) -> None:
    model = tiny_model(**changes)
    config = DecodeConfig(max_length=len(path))
    trace = decode_recorded(model, encoding(), TARGET, config, prefix=path).trace
    for (kind, layer, head), details in head_details(model, encoding(), TARGET, path, SITES).items():
        recorded = trace.weights(kind)[layer, head]
        assert len(details.rows) == len(recorded)
        assert details.scaled is model.config.scale_scores
        d_head = details.rows[0].query.size
        for row, weights in zip(details.rows, recorded, strict=True):
            np.testing.assert_array_equal(row.weights, weights[: row.weights.size])
            assert not weights[row.weights.size :].any()
            scores = row.keys @ row.query / (np.sqrt(d_head) if details.scaled else 1)
            np.testing.assert_allclose(row.scores, scores, atol=1e-5)
            np.testing.assert_allclose(row.weights @ row.values, row.output, atol=1e-5)


def test_an_edit_is_in_force_again() -> None:
    model = tiny_model()
    edit = HeadEdits((HeadEdit("decoder", 0, 1, "uniform"), HeadEdit("cross", 0, 0, "zero")))
    found = head_details(model, encoding(), TARGET, PATH, [("decoder", 0, 1), ("cross", 0, 0)], edit=edit)
    np.testing.assert_allclose(found["decoder", 0, 1].rows[3].weights, [0.25] * 4)
    assert not found["cross", 0, 0].rows[2].output.any()
    with pytest.raises(EditError, match="layers"):
        head_details(model, encoding(), TARGET, PATH, SITES, edit=HeadEdits((HeadEdit("cross", 9, 0, "zero"),)))


@pytest.mark.parametrize("site", [("encoder", 2, 0), ("encoder", 0, 2), ("cross", -1, 0), ("sideways", 0, 0)])
def test_a_head_that_is_not_there_is_named(site: tuple[str, int, int]) -> None:
    with pytest.raises(ValueError, match=r"kind is one of|no layer"):
        output_projection(tiny_model(), *site)


def test_without_a_path_there_is_nothing_to_follow() -> None:
    with pytest.raises(ValueError, match="no path"):
        head_details(tiny_model(), encoding(), TARGET, (), SITES)
