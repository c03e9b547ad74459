"""The cards of the bundled models quote what the program computes: findings, cross-checks, the pruning curve."""

from __future__ import annotations

import re
from functools import cache

import pytest

from explorer.probing.importance import Importance, measure_curve, measure_importance
from explorer.probing.measured import Measured, measure
from explorer.probing.sample import SampleChoice, default_choice, gather
from explorer.probing.ship import check_lines, findings
from model.analysis.importance import least_first
from model.checkpoint import LoadedModel, load_model
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS


@cache
def measured(name: str) -> tuple[LoadedModel, Measured, Importance]:
    """A bundled model, with what is measured of it on its default sample and what each head is worth."""
    loaded = load_model(CHECKPOINTS / name)
    found = measure(SampleChoice(), loaded, quiet)
    return loaded, found, measure_importance(loaded, found.sample, quiet)


NAMES = ("reverse", "adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_card_quotes_what_is_found(name: str) -> None:
    loaded, found, importance = measured(name)
    lines = findings(loaded, found, importance)
    for line in lines:
        assert f"- {line}\n" in loaded.card
    # Without heads that are called important, the loss rises, and more than without the others.
    most, least = (
        float(found_loss)
        for text in ("matters most", "matter least")
        for found_loss in re.findall(rf"{text}.*?the loss goes from \S+ to ([\d.]+)", "\n".join(lines))
    )
    assert most > 2 * least


def test_the_pruning_curve_starts_whole_and_ends_with_nothing() -> None:
    loaded, found, importance = measured("adjective-swap")
    curve = measure_curve(loaded, found.sample, found.task, least_first(importance.ablation.loss_change), quiet)
    assert (curve.counts[0], curve.counts[-1]) == (0, 24)
    assert (curve.exact[0], curve.exact[1], curve.exact[-1]) == (1.0, 1.0, 0.0), "the least important heads can go"
    quality = curve.remaining_quality()
    assert set(quality) == {"probability per token", "exact match", "BLEU"}
    assert all(values[0] == 100.0 and len(values) == len(curve.counts) for values in quality.values())
    assert re.match(r"BLEU falls below 90 % of the whole model's with \d+ of 24 heads switched off\.", curve.summary())


SLOW = (*NAMES[1:], "multi30k-en-de", "multi30k-de-en")


@pytest.mark.parametrize("name", ["reverse", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_the_card_quotes_what_is_counted(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    lines = check_lines(loaded, sample)
    assert len(lines) == 3
    for line in lines:
        assert f"- {line}\n" in loaded.card
