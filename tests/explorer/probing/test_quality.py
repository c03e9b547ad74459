"""The quality of a sample's translations, whole and with edited heads."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.decoding.translator import Translator
from explorer.probing.edit_effect import Quality, quality_of, quality_words
from explorer.probing.sample import subsample
from model.analysis.importance import SentenceLosses, without
from model.analysis.recorded_batches import written_sample
from model.checkpoint import load_model
from model.data import get_task
from tests.paths import ROOT


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


def test_quality_of_a_sample(reverse: Translator) -> None:
    task = get_task("reverse")
    loaded = reverse.loaded
    sample = subsample(written_sample(task.splits["test"], loaded.source, loaded.target, 100), 40)
    assert len(sample) == 40
    whole = quality_of(loaded, sample, task, None)
    assert (whole.exact, whole.bleu) == (1.0, None)
    ruined = quality_of(loaded, sample, task, without([("cross", 0, 0), ("cross", 0, 1)]))
    assert ruined.exact is not None
    assert ruined.exact < 0.2
    assert ruined.loss > whole.loss + 1


def test_bleu_where_targets_are_words() -> None:
    task = get_task("adjective-swap")
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    sample = subsample(written_sample(task.splits["test"], loaded.source, loaded.target, 60), 20)
    whole = quality_of(loaded, sample, task, None)
    assert whole.bleu == pytest.approx(100.0)
    heads = [("cross", layer, head) for layer in range(2) for head in range(4)]
    ruined = quality_of(loaded, sample, task, without(heads))  # type: ignore[arg-type]
    assert ruined.bleu is not None
    assert ruined.bleu < 50


def test_a_change_in_words_names_the_measures_that_are_known() -> None:
    tokens = np.array([2.0, 3.0, 5.0])
    losses = [SentenceLosses(np.array(nll), tokens, tokens) for nll in ([1.0, 2.0, 3.0], [2.0, 3.5, 5.5])]
    before, after = Quality(losses[0], np.ones(3), None), Quality(losses[1], np.array([1.0, 0.0, 0.0]), None)
    assert quality_words(before, after) == (
        "the loss goes from 0.600 to 1.100 nats per token, by +0.500 (+0.500 to +0.500); exact match from 100.0 % to "
        "33.3 %, by -66.7 (-100.0 to 0.0, not distinguishable from zero) percentage points"
    )
    before, after = Quality(losses[0], None, 30.0), Quality(losses[0], None, 12.34)
    assert quality_words(before, after) == (
        "the loss goes from 0.600 to 0.600 nats per token, by 0.000 (0.000 to 0.000, not distinguishable from zero); "
        "BLEU from 30.0 to 12.3"
    )
