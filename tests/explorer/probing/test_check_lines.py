"""The cross-checks on the cards of the bundled models equal those that the program computes."""

from __future__ import annotations

import pytest

from explorer.probing.sample import default_choice, gather
from explorer.probing.ship import check_lines
from model.checkpoint import load_model
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS

SLOW = ("adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de", "multi30k-en-de", "multi30k-de-en")


@pytest.mark.parametrize("name", ["reverse", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_card_quotes_what_is_counted(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    lines = check_lines(loaded, sample)
    assert len(lines) == 3
    for line in lines:
        assert f"- {line}\n" in loaded.card
