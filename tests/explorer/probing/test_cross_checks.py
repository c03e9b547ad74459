"""Counts over a sample, by part of speech, and the agreement of two maps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.probing.cross_checks import SENTENCES, THIRDS, agreement, kept_shares, map_agreement, source_counts
from explorer.probing.measured import Measured
from model.analysis import bootstrap
from model.analysis.cross_checks import COUNTERFACTUALS, counterfactual_rows, value_zeroing
from model.analysis.source_share import source_shares
from model.checkpoint import LoadedModel
from model.config import EOS, SOS
from model.recording import AttentionRecorder
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
        assert float(found.by_tag["NOUN"][1][name].value) == pytest.approx(float(nouns.mean()))
        low, high = (float(part) for part in (found.by_tag["NOUN"][1][name].low, found.by_tag["NOUN"][1][name].high))
        expected = bootstrap.of_ratio(
            np.array([mark[1::2].sum() for mark in marks], dtype=np.float64),
            np.array([len(mark[1::2]) for mark in marks], dtype=np.float64),
        )
        assert (low, high) == (float(expected.low), float(expected.high)), "an interval over sentences"
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


def test_function_and_content_words_are_counted_as_such(measured: Measured, reverse: LoadedModel) -> None:
    sample = measured.sample.part(range(4))
    classes = [["function" if i == 0 else "content" for i in range(len(target))] for target in sample.targets]
    found = kept_shares(reverse, sample, classes, lambda done, words: None)
    assert {name: count for name, (count, _) in found.by_tag.items()} == {
        "function": 4,
        "content": sum(len(target) - 1 for target in sample.targets),
    }


def test_maps_are_compared_row_by_row(measured: Measured, reverse: LoadedModel) -> None:
    sample = measured.sample.part(range(5))
    found = map_agreement(reverse, sample, lambda done, words: None)
    config = reverse.model_config
    for (kind, layer), shares in found.same.items():
        hits, rows, chance = 0, 0, 0.0
        for source, target in zip(sample.sources, sample.targets, strict=True):
            src, read = (*source.ids, EOS), (SOS, *target)
            recorder = AttentionRecorder()
            with torch.inference_mode():
                reverse.transformer(torch.tensor([src]), torch.tensor([read]), tap=recorder)
            weights = recorder.weights(kind)[layer].mean(axis=0)
            zeroed = value_zeroing(reverse.transformer, src, read, kind, layer)
            for row, (one, two) in enumerate(zip(weights, zeroed, strict=True)):
                n_keys = row + 1 if kind == "decoder" else len(one)
                if n_keys > 1 and two.any():
                    rows, hits, chance = rows + 1, hits + int(one.argmax() == two.argmax()), chance + 1 / n_keys
        assert float(shares["weights", "zeroed"].value) == pytest.approx(hits / rows)
        assert found.chance[kind, layer] == pytest.approx(chance / rows)
    assert len(found.same) == sum(config.n_layers(kind) for kind in ("encoder", "decoder", "cross"))
    assert len(found.rows()) == len(found.same)
    assert "Over 5 sentences: the key with the largest weight" in found.caption()


def test_shares_of_the_source_by_place_and_class(measured: Measured, reverse: LoadedModel) -> None:
    sample = measured.sample.part(range(6))
    classes = [["function" if i % 2 else "content" for i in range(len(target))] for target in sample.targets]
    found = source_counts(reverse, sample, classes, lambda done, words: None)
    everything, ends, by_class, thirds = [], [], {"function": [], "content": []}, {name: [] for name in THIRDS}
    for source, target in zip(sample.sources, sample.targets, strict=True):
        src, read = (*source.ids, EOS), (SOS, *target)
        recorder = AttentionRecorder()
        with torch.inference_mode():
            reverse.transformer(torch.tensor([src]), torch.tensor([read]), tap=recorder)
        shares, n = source_shares(reverse.transformer, src, read), len(target)
        for t in range(n):
            everything.append(shares[t])
            ends.append(recorder.weights("cross")[:, :, t, -1].mean())
            by_class["function" if t % 2 else "content"].append(shares[t])
            thirds[THIRDS[0 if t < n / 3 else 1 if t < 2 * n / 3 else 2]].append(shares[t])
    assert float(found.mean.value) == pytest.approx(np.mean(everything))
    assert found.words == len(everything)
    for name, values in (*((f"{key} words", values) for key, values in by_class.items()), *thirds.items()):
        count, item = found.groups[name]
        assert (count, float(item.value)) == (len(values), pytest.approx(np.mean(values)))
    assert float(found.on_end.value) == pytest.approx(np.corrcoef(everything, ends)[0, 1], abs=1e-5)
    assert found.on_end.low < found.on_end.value < found.on_end.high
    assert "of each comes from the source" in found.caption()
    assert [row["predictions"] for row in found.rows()][:4] == ["all", *THIRDS]
