"""The cards of the bundled models quote what the program computes: findings, cross-checks, the pruning curve."""

import re
from functools import cache

import numpy as np
import pytest

from explorer.probing.importance import halves, measure_curve
from explorer.probing.measured import Measured, measure
from explorer.probing.sample import SampleChoice, default_choice, gather
from explorer.probing.ship import check_lines, findings
from model.checkpoint import LoadedModel, load_model
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS
from tests.some import some


@cache
def measured(name: str) -> tuple[LoadedModel, Measured]:
    """A bundled model, with what is measured of it on its default sample."""
    loaded = load_model(CHECKPOINTS / name)
    return loaded, measure(SampleChoice(), loaded, quiet)


NAMES = ("reverse", "reverse-decoder", "adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de")


@pytest.mark.slow
@pytest.mark.parametrize("name", some(NAMES, 6))
def test_the_card_quotes_what_is_found(name: str) -> None:
    loaded, found = measured(name)
    lines = findings(loaded, found)
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
    loaded, found = measured("adjective-swap")
    curve = measure_curve(loaded, found.sample, found.task, quiet)
    choice, scored = halves(found.sample)
    assert (curve.chosen_on, curve.scored_on) == (len(choice), len(scored))
    assert not {source.text for source in choice.sources} & {source.text for source in scored.sources}
    assert (curve.counts[0], curve.counts[-1]) == (0, 24)
    assert (curve.exact[0], curve.exact[1], curve.exact[-1]) == (1.0, 1.0, 0.0), "the least important heads can go"
    quality = curve.remaining_quality()
    assert set(quality) == {"probability per token", "exact match", "BLEU"}
    assert all(values[0] == 100.0 and len(values) == len(curve.counts) for values in quality.values())
    assert np.allclose(curve.random[:, 0], curve.loss[0])
    assert np.allclose(curve.random[:, -1], curve.loss[-1]), "every order ends with all heads off"


# A translator and a decoder alone.
OTHERS = (*sorted({*NAMES} - {"adjective-swap", "reverse-decoder"}), "multi30k-en-de", "multi30k-de-en")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["adjective-swap", "reverse-decoder", *OTHERS])
def test_the_card_quotes_what_is_counted(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    lines = check_lines(loaded, sample)
    assert len(lines) == 3
    for line in lines:
        assert f"- {line}\n" in loaded.card
