"""Counts over a sample, by part of speech, and the agreement of two maps."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.probing.cross_checks import SENTENCES, agreement, kept_shares
from explorer.probing.sample import Measured
from model.analysis.cross_checks import COUNTERFACTUALS, counterfactual_rows
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.scoring import evenly_spaced


def test_the_counts_are_those_of_the_single_rows(measured: Measured, reverse: LoadedModel) -> None:
    sample = measured.sample.part(range(6))
    tags = [["NOUN" if i % 2 else "DET" for i in range(len(target))] for target in sample.targets]
    found = kept_shares(reverse, sample, tags, lambda done, words: None)
    single = [
        counterfactual_rows(reverse.transformer, (*source.ids, EOS), (SOS, *target))
        for source, target in zip(sample.sources, sample.targets, strict=True)
    ]
    for name in COUNTERFACTUALS:
        marks = [one.stays[name][:-1] for one in single]
        assert float(found.shares[name].value) == pytest.approx(float(np.concatenate(marks).mean()))
        nouns = np.concatenate([mark[1::2] for mark in marks])
        assert found.by_tag["NOUN"][1][name] == pytest.approx(float(nouns.mean()))
    assert found.by_tag["content"][0] == found.by_tag["NOUN"][0]
    assert found.words == sum(len(target) for target in sample.targets)
    assert "68 % of function words" in found.caption()
    assert found.rows()[0]["words"] == found.words
    plain = kept_shares(reverse, sample, None, lambda done, words: None)
    assert plain.by_tag == {}
    assert "68 %" not in plain.caption()
    assert len(evenly_spaced(200, SENTENCES)) == SENTENCES


def test_agreement_of_two_maps() -> None:
    one = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    assert agreement(one, one) == "the largest key is the same in 3 of 3 rows; mean correlation of a row +1.00"
    assert agreement(one, one[:, ::-1]).startswith("the largest key is the same in 1 of 3 rows; mean correlation")
