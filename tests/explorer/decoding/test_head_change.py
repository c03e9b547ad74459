"""Changes to heads: as values, in words and in links."""

from __future__ import annotations

import pytest

from explorer.decoding.head_change import (
    Change,
    added,
    describe,
    fitting,
    for_any_sentence,
    from_link,
    thousandths,
    to_link,
)
from model.config import ModelConfig

CONFIG = ModelConfig(n_encoder_layers=2, n_decoder_layers=1, n_encoder_heads=4, n_decoder_heads=2)
ALL = (
    Change("cross", 1, 2, "zero"),
    Change("encoder", 2, 4, "uniform"),
    Change("decoder", 1, 1, "mean"),
    Change("cross", 1, 1, "row", row=3, weights=(0, 250, 750)),
    Change("encoder", 1, 1, "pattern", other="äh, </script>~.-"),
    Change("encoder", 1, 2, "output", other="attention"),
)


def test_a_link_restores_every_kind_of_change() -> None:
    link = to_link(ALL)
    assert from_link(link) == (ALL, [])
    assert fitting(ALL, CONFIG) == (ALL, [])
    assert all(letter.isalnum() or letter in "-._~" for letter in link), "nothing in it needs escaping"


@pytest.mark.parametrize(
    "link",
    [
        "cross",
        "cross.1.1.burn",
        "cross.0.1.zero",
        "cross.2.1.zero",
        "cross.1.9.zero",
        "both.1.1.zero",
        "cross.1.1.zero.5",
        "cross.1.1.row.1",
        "cross.1.1.row.x.500",
        "cross.1.1.row.1.0-0",
        "cross.1.1.row.1.-5",
        "cross.1.1.row.1.5.5",
        "cross.1.1.pattern",
        "cross.1.1.pattern.%%%",
        "cross.1.1.pattern.____",
        "cross.1.1.pattern." + "QUFB" * 900,
        "cross.1.1.output.",
        "cross.٣.1.zero",
        "...",
        "<script>.1.1.zero",
    ],
)
def test_a_link_that_makes_no_sense_gets_a_message(link: str) -> None:
    found, problems = from_link(f"cross.1.1.zero~{link}")
    found, unfit = fitting(found, CONFIG)
    problems += unfit
    assert found == (Change("cross", 1, 1, "zero"),)
    assert len(problems) == 1
    assert "is left out" in problems[0]


def test_a_link_with_far_too_many_edits_is_cut() -> None:
    found, problems = from_link("~".join(["cross.1.1.zero"] * 400))
    assert len(found) == 1
    assert "the first 256" in problems[0]


def test_a_new_change_takes_the_place_of_the_old_one_of_that_head() -> None:
    first, second = Change("cross", 1, 1, "zero"), Change("cross", 1, 1, "uniform")
    other = Change("cross", 1, 2, "zero")
    assert added((first, other), [second]) == (other, second)
    row, later = Change("cross", 1, 1, "row", 1, (1,)), Change("cross", 1, 1, "row", 2, (1,))
    assert added((first,), [row]) == (row,)
    assert added((row,), [later]) == (row, later)
    assert added((row, later), [Change("cross", 1, 1, "row", 1, (2,))])[0] == later
    assert added((row, later), [first]) == (first,)


def test_changes_in_words() -> None:
    assert describe(()) == "no change"
    assert describe(ALL[:2]) == "cross L1 H2 switched off; encoder L2 H4 made uniform"
    assert describe((Change("cross", 1, 1, "zero"), Change("cross", 1, 2, "zero"))) == "cross L1 H1, L1 H2 switched off"
    assert describe(ALL[3:4]) == "cross L1 H1, row 3 edited by hand"
    assert describe(ALL[5:]) == "encoder L1 H2 given the output of another sentence (attention)"


@pytest.mark.parametrize(
    ("weights", "expected"), [([1, 3], (250, 750)), ([0, 1e-9], (0, 1000)), ([2.0], (1000,)), ([1] * 5000, None)]
)
def test_weights_in_thousandths(weights: list[float], expected: tuple[int, ...] | None) -> None:
    found = thousandths(weights)
    assert found == expected if expected else sum(found) > 0


@pytest.mark.parametrize("weights", [[0, 0], [-1, 2], [float("nan"), 1], [float("inf")], []])
def test_invalid_weights(weights: list[float]) -> None:
    with pytest.raises(ValueError, match=r"(?i)weight"):
        thousandths(weights)


def test_only_changes_of_whole_heads_apply_to_any_sentence() -> None:
    assert for_any_sentence(ALL) == ALL[:3]
