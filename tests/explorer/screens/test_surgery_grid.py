"""What is written on the thumbnails of the Surgery tab."""

from __future__ import annotations

from typing import get_args

from explorer.decoding.head_change import Change, Kind
from explorer.screens.probe.surgery import mark_words, marks_of


def test_marks_say_what_is_in_force_and_what_is_chosen() -> None:
    changes = (Change("cross", 1, 2, "zero"), Change("cross", 2, 1, "mean"), Change("encoder", 1, 1, "uniform"))
    assert marks_of("cross", changes, [(0, 1), (3, 3)]) == {(0, 1): "✓ off", (1, 0): "mean", (3, 3): "✓"}
    assert marks_of("decoder", changes, []) == {}


def test_every_kind_of_change_has_its_own_mark() -> None:
    assert set(mark_words()) == set(get_args(Kind))
    assert len(set(mark_words().values())) == len(mark_words())
