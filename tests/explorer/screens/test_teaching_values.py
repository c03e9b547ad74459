"""The texts and tables of the Positions, Masks and Inside pages, computed from values without Streamlit."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.charts.model_internals import activation_plot, budget_plot
from explorer.charts.plotly_charts import labels, numbered
from explorer.charts.positions import rotation_columns
from explorer.decoding.labelled_map import SCORE, map_caption, map_table, token_map
from explorer.decoding.masked_reading import MAX_SENTENCES, closed_cells, companions_among
from explorer.screens.inside.queries_and_keys import match_columns
from explorer.screens.masks.given_target import target_caption
from explorer.screens.positions.sinusoidal import comparison
from explorer.screens.positions.word_order import effect
from model.analysis.operations import Match
from model.analysis.sinusoidal_checks import check_rotation
from model.analysis.size import Part
from model.analysis.word_order import Shuffle
from model.config import ModelConfig
from model.trace import FUTURE, PADDING, VISIBLE


def test_a_single_step_is_numbered_by_its_position() -> None:
    assert numbered(["."], 9) == ["9 ."]
    assert labels(["<b>"], 2) == ["2 &lt;b&gt;"]
    values = np.array([[0.5, -2.0]], dtype=np.float32)
    assert activation_plot(values, ["."], "", side="position", first=9).table["position"] == ["9 ."]
    assert "at 9 “.”, dimension 1" in activation_plot(values, ["."], "", side="position", first=9).caption
    scores = token_map("cross", values, (".",), ("a", "b"), "", first_row=9, unit=SCORE, signed=True, top=None)
    assert map_table(scores) == [{"query": "9 .", "1 a": 0.5, "2 b": -2.0}]
    assert map_caption(scores) == "The score furthest from 0 is -2.000, of query “9 .” and key “2 b”."


def test_closed_cells_are_counted_by_reason() -> None:
    codes = np.array([[VISIBLE, FUTURE], [VISIBLE, PADDING]], dtype=np.uint8)
    assert closed_cells(codes) == "2 of 4 cells are open; closed: 1 the future ╱, 1 padding ╳."
    assert closed_cells(codes[:1]) == "1 of 2 cells are open; closed: 1 the future ╱."
    assert closed_cells(codes[1:]) == "1 of 2 cells are open; closed: 1 padding ╳."
    assert closed_cells(codes[:, :1]) == "None of 2 cells is closed."


def test_the_largest_part_is_named_for_parameters_and_for_flops() -> None:
    plot = budget_plot([Part("embedding", 6, 0), Part("rest", 2, 3)])
    assert plot.caption == (
        "8 parameters; the largest part is the embedding (75 %). 3 FLOPs of one pass; the largest part is the rest "
        "(100 %)."
    )
    assert plot.table["parameters (%)"] == [75.0, 25.0]


def test_companions_have_other_lengths_shortest_and_longest_first() -> None:
    examples = {"one": 1, "a b": 2, "same length": 3, "four": 4, "five": 5, "six": 6}
    found = companions_among("x y z", 3, examples)
    assert found == ("one", "six", "a b")
    assert len(found) == MAX_SENTENCES - 1
    assert companions_among("one", 1, {"one": 1}) == ()
    assert companions_among("x y z w", 4, {}) == ("x y",)
    assert companions_among("letters", 7, {"letters": 7}) == ("let",)


def test_the_table_is_compared_with_the_model() -> None:
    config = ModelConfig(src_vocab_size=9, tgt_vocab_size=9, d_model=16)
    assert "These are the rows that the loaded model adds" in comparison(config, 1e-8)
    assert comparison(config, None) == "The loaded model adds the rows of d_model 16 and base 10,000."


@pytest.mark.parametrize(("change", "said"), [(0.0, "follows the words exactly"), (0.25, "by up to 0.25")])
def test_the_effect_of_shuffling_is_a_sentence(change: float, said: str) -> None:
    before = np.zeros((1, 1, 2, 2), dtype=np.float32)
    assert said in effect(Shuffle(before, before + np.float32(change), (4,), (5,)))


def test_rotation_columns_have_a_row_per_pair() -> None:
    columns = rotation_columns(check_rotation(12, 8, 10_000.0, 3))
    assert {len(column) for column in columns.values()} == {4}
    assert columns["pair"] == [1, 2, 3, 4]
    assert columns["angle k·ω (°)"][0] == pytest.approx(np.degrees(3), abs=1e-4)
    assert columns["−sin"] == [-value for value in columns["sin"]]


def test_matches_name_query_and_key_by_position() -> None:
    columns = match_columns([Match(1, 0.456, 2.0, 0.5)], ("a",), ("a", "b"))
    assert columns["query"] == ["1 a"]
    assert columns["looks most at"] == ["2 b"]
    assert columns["weight (%)"] == [45.6]


def test_the_caption_of_a_given_target_depends_on_how_the_model_was_trained() -> None:
    right, own = "right token", "model's own token"
    assert target_caption(0.9, 0.5, causal=True, token=right) == (
        "The right token gets 90.0 % on average with the mask and 50.0 % without it. This model was trained with the "
        "mask, so open cells give it an input that it never saw in training. For a model trained without the mask, "
        "see 'Trained without it'."
    )
    assert "has learned to copy it" in target_caption(0.5, 0.9, causal=False, token=right)
    worse = target_caption(0.77, 0.749, causal=False, token=own)
    assert worse.startswith("The model's own token gets 77.0 %")
    assert worse.endswith("yet open cells do not help with this target.")
    assert "do not help" in target_caption(0.77, 0.77, causal=False, token=own)
