"""Texts and tables of the Positions, Masks, Inside and Probe pages, computed from values without Streamlit."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from explorer.charts.model_internals import activation_plot, budget_plot, label_sides
from explorer.charts.plotly_charts import labels, numbered
from explorer.charts.positions import rotation_columns
from explorer.decoding.head_change import Change, Kind
from explorer.decoding.labelled_map import SCORE, closed_cells, map_caption, map_table, token_map
from explorer.decoding.masked_reading import MAX_SENTENCES, companions_among
from explorer.screens.inside.queries_and_keys import match_columns
from explorer.screens.masks.given_target import target_caption
from explorer.screens.positions.word_order import effect
from explorer.screens.probe.surgery import mark_words, marks_of
from model.analysis.operations import Match
from model.analysis.sinusoidal_checks import check_rotation
from model.analysis.size import Part
from model.analysis.word_order import Shuffle
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


def test_closed_cells_are_counted_once_by_reason() -> None:
    codes = np.array([[VISIBLE, FUTURE, PADDING], [VISIBLE, VISIBLE, PADDING], [VISIBLE, VISIBLE, PADDING]], np.uint8)
    both = "3 padding ╳ (2 of them in the future, too)"
    assert closed_cells(codes) == f"5 of 9 cells are open; closed: 1 in the future ╱ and {both}."
    assert closed_cells(codes[:, :2]) == "5 of 6 cells are open; closed: 1 in the future ╱."
    assert closed_cells(codes[1:]) == "4 of 6 cells are open; closed: 2 padding ╳."
    assert closed_cells(codes[:, :1]) == "All 3 cells are open."


def test_labels_of_points_that_lie_together_stand_on_different_sides() -> None:
    close = np.array([[0.0, 0.0], [0.01, 0.0], [0.0, 0.01], [1.0, 1.0]])
    sides = label_sides(close, ["1 word", "2 word", "3 word", "4 word"])
    assert len(set(sides[:3])) == 3
    assert sides[3] == "top center"
    assert label_sides(np.zeros((1, 2)), ["1 word"]) == ["top center"]


def test_the_largest_part_is_named_for_parameters_and_for_flops() -> None:
    plot = budget_plot([Part("embedding", 6, 0), Part("rest", 2, 3)])
    assert plot.caption == (
        "8 parameters; the largest part is the embedding (75 %). 3 FLOPs of one pass; the largest part is the rest "
        "(100 %)."
    )
    assert plot.table["parameters (%)"] == [75.0, 25.0]
    long = budget_plot([Part("decoder: scores and values", 6, 1), Part("rest", 2, 3)]).figure
    parameters = long.data[0]
    assert list(parameters.y) == ["decoder:<br>scores and values", "rest"]
    assert (list(parameters.x), parameters.orientation) == ([75.0, 25.0], "h")
    assert long.layout.margin.l > 17 * 6, "the longest line of a name has room"


def test_companions_have_other_lengths_and_none_is_mostly_padding() -> None:
    examples = {"one": 1, "a b": 2, "same length": 3, "four": 4, "five": 5, "also five": 5, "seven": 7}
    found = companions_among("x y z", 3, examples)
    assert found == ("four", "one", "five")
    assert len(found) == MAX_SENTENCES - 1
    assert companions_among("x y", 2, {"one": 1, "five": 5}) == ("one",)
    assert companions_among("one", 1, {"one": 1}) == ()
    assert companions_among("x y z w", 4, {}) == ("x y",)
    assert companions_among("letters", 7, {"letters": 7}) == ("let",)


def test_the_effect_of_shuffling_is_a_sentence() -> None:
    before = np.zeros((1, 1, 2, 2), dtype=np.float32)
    assert "by up to 0.25" in effect(Shuffle(before, before + np.float32(0.25), (4,), (5,)))


def test_rotation_columns_have_a_row_per_pair() -> None:
    columns = rotation_columns(check_rotation(12, 8, 10_000.0, 3))
    assert columns["pair"] == [1, 2, 3, 4]
    assert columns["angle k·ω (°)"][0] == pytest.approx(np.degrees(3), abs=1e-4)
    assert columns["−sin"] == [-value for value in columns["sin"]]


def test_matches_name_query_and_key_by_position() -> None:
    columns = match_columns([Match(1, 0.456, 2.0, 0.5)], ("a",), ("a", "b"))
    assert columns["query"] == ["1 a"]
    assert columns["looks most at"] == ["2 b"]
    assert columns["weight (%)"] == [45.6]


@pytest.mark.parametrize(
    ("masked", "lifted", "causal", "said"),
    [
        (0.9, 0.5, True, "trained with the mask, so open cells give it an input that it never saw in training"),
        (0.5, 0.9, False, "has learned to copy it"),
        (0.9, 0.749, False, "yet open cells do not help with this target."),
        (0.9, 0.9, False, "do not help"),
    ],
)
def test_the_caption_of_a_given_target_depends_on_how_the_model_was_trained(
    masked: float, lifted: float, causal: bool, said: str
) -> None:
    caption = target_caption(masked, lifted, causal=causal, token="right token")
    assert caption.startswith(f"The right token gets {100 * masked:.1f} % on average with the mask and ")
    assert said in caption


def test_heads_say_what_is_in_force_and_what_is_chosen() -> None:
    changes = (Change("cross", 1, 2, "zero"), Change("cross", 2, 1, "mean"), Change("encoder", 1, 1, "uniform"))
    assert marks_of("cross", changes, [(0, 1), (3, 3)]) == {(0, 1): "✓ off", (1, 0): "mean", (3, 3): "✓"}
    assert marks_of("decoder", changes, []) == {}
    assert set(mark_words()) == set(get_args(Kind)) - {"position"}, "a moved token is no head's"
    assert len(set(mark_words().values())) == len(mark_words()), "each kind of change has its own mark"
