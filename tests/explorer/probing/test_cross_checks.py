"""Counts over a sample, by part of speech, and the agreement of two maps."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from explorer.decoding.translator import Translator
from explorer.probing.cross_checks import (
    SENTENCES,
    KeptShares,
    agreement,
    conclusion,
    kept_shares,
    map_agreement,
    sentence_maps,
)
from explorer.probing.measured import Measured
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.cross_checks import COUNTERFACTUALS, counterfactual_rows, value_zeroing
from model.analysis.recorded_batches import Sample
from model.checkpoint import LoadedModel
from model.config import ATTENTION_KINDS, EOS, SOS, DecodeConfig
from model.recording import AttentionRecorder
from model.scoring import evenly_spaced
from model.transformer import Transformer
from tests.explorer.probed import quiet


def test_the_counts_are_those_of_the_single_rows(measured: Measured, reverse: LoadedModel) -> None:
    sample = measured.sample.part(range(6))
    tags = [["NOUN" if i % 2 else "DET" for i in range(len(target))] for target in sample.targets]
    found = kept_shares(reverse, sample, tags, quiet)
    single = [counterfactual_rows(reverse.transformer, *pair) for pair in pairs_of(sample)]
    for name in COUNTERFACTUALS:
        marks = [rows.stays[name][:-1] for rows in single]
        nouns, of_nouns = [mark[1::2] for mark in marks], found.by_tag["NOUN"][1][name]
        assert float(found.shares[name].value) == pytest.approx(float(np.concatenate(marks).mean()))
        assert float(of_nouns.value) == pytest.approx(float(np.concatenate(nouns).mean()))
        hits, counts = (np.array([f(mark) for mark in nouns], dtype=np.float64) for f in (np.sum, len))
        expected = bootstrap.of_ratio(hits, counts)
        assert (of_nouns.low, of_nouns.high) == (expected.low, expected.high), "an interval over sentences"
        changes = np.concatenate([rows.change[name][:-1][rows.stays[name][:-1]] for rows in single])
        assert float(found.change[name].value) == pytest.approx(
            changes.mean() if changes.size else np.nan, nan_ok=True
        ), "of the words that stay"
    assert found.by_tag["content"][0] == found.by_tag["NOUN"][0] == sum(len(target) // 2 for target in sample.targets)
    assert found.tokens == found.rows()[0]["tokens"] == sum(len(target) for target in sample.targets)
    assert kept_shares(reverse, sample, None, quiet).by_tag == {}
    for name in COUNTERFACTUALS:
        of_all = np.concatenate([rows.change[name][:-1] for rows in single])
        assert float(found.change_of_all[name].value) == pytest.approx(of_all.mean())
    assert len(evenly_spaced(200, SENTENCES)) == SENTENCES
    classes = [["function" if i == 0 else "content" for i in range(len(target))] for target in sample.targets]
    by_class = kept_shares(reverse, sample, classes, quiet).by_tag
    table = kept_shares(reverse, sample, [["function", "content", "punctuation"] * 9] * 6, quiet).rows()
    assert [row["predicted token"] for row in table] == ["all", "function words", "content words", "punctuation"]
    assert table[0]["tokens"] == sum(row["tokens"] for row in table[1:]), "the groups are all words"
    assert all(re.fullmatch(r"\d+ % \(\d+ % to \d+ %\)", row["stay likeliest: uniform"]) for row in table)
    assert {name: count for name, (count, _) in by_class.items()} == {"function": 6, "content": found.tokens - 6}


def certain(value: float) -> Estimate:
    """A value whose interval has no width."""
    return Estimate(*(np.array(value) for _ in range(3)))


@pytest.mark.parametrize(("change", "depends"), [(-0.6, True), (0.0, False), (0.4, False)])
def test_a_word_that_stays_may_have_become_less_likely(change: float, *, depends: bool) -> None:
    shares, changes = (dict.fromkeys(COUNTERFACTUALS, certain(value)) for value in (0.5, change))
    said = KeptShares(shares, changes, dict.fromkeys(COUNTERFACTUALS, certain(-2.0)), {}, 3, 9).caption()
    assert "of the predicted tokens, in nats: uniform −2.00 (−2.00 to −2.00), shuffled −2.00" in said
    assert ("may depend on the row all the same" in said) is depends
    assert f"the likeliest: uniform {change:+.2f} (".replace("+0.00", "0.00").replace("-", "−") in said
    none, unknown = (dict.fromkeys(COUNTERFACTUALS, certain(value)) for value in (0, np.nan))
    assert "Of those that stay" not in KeptShares(none, unknown, changes, {}, 3, 9).caption(), "no word stays"


def test_the_verdict_names_each_row_with_the_interval_of_the_tokens_that_stay() -> None:
    stays = Estimate(np.array(0.42), np.array(0.39), np.array(0.45))
    shares = {"uniform": stays, "shuffled": certain(0.3), "largest removed": certain(1.0)}
    known = dict.fromkeys(COUNTERFACTUALS, certain(0.0))
    assert KeptShares(shares, known, known, {}, 50, 863).verdict() == (
        "Of 863 predicted tokens, this share stays the likeliest with another row: uniform 42 % (39 % to 45 %), "
        "shuffled 30 % (30 % to 30 %), largest removed 100 % (100 % to 100 %)."
    )


def pairs_of(sample: Sample) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The ids that encoder and decoder read, sentence by sentence."""
    for source, target in zip(sample.sources, sample.targets, strict=True):
        yield (*source.ids, EOS), (SOS, *target)


def recorded(model: Transformer, src: tuple[int, ...], read: tuple[int, ...]) -> AttentionRecorder:
    recorder = AttentionRecorder()
    with torch.inference_mode():
        model(torch.tensor([src]), torch.tensor([read]), tap=recorder)
    return recorder


def test_agreement_of_two_maps() -> None:
    one = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    assert agreement(one, one) == "the largest key is the same in 3 of 3 rows; mean correlation of a row +1.00"
    assert agreement(one, one[:, ::-1]).startswith("the largest key is the same in 1 of 3 rows; mean correlation")


@pytest.mark.parametrize(
    ("same", "rows", "said"),
    [
        (8, 9, "Here the weights are a fair picture: in 8 of 9 rows"),
        (3, 4, "Here the weights are a fair picture: in 3 of 4 rows"),
        (5, 9, "In 5 of 9 rows, the key"),
        (6, 9, "In 6 of 9 rows, the key"),
        (4, 8, "Here the weights are no fair picture: only in 4 of 8 rows"),
        (0, 9, "Here the weights are no fair picture: only in 0 of 9 rows"),
        (3, 3, "In 3 of 3 rows, the key"),  # too few for more
        (0, 1, "In 0 of 1 row, the key"),
        (0, 0, "In 0 of 0 rows, the key"),
    ],
)
def test_weights_are_called_fair_or_not_only_where_the_rows_of_the_sentence_say_so(
    same: int, rows: int, said: str
) -> None:
    found = conclusion(same, rows, 1.04)
    assert found.startswith(said)
    assert found.endswith("whose value is missed most (by chance in 1.0).")


def test_a_row_that_sees_one_key_agrees_with_nothing(reverse: LoadedModel) -> None:
    translation = Translator(reverse).translate("abc", DecodeConfig())
    norms = np.ones((4, 4), np.float32)
    for kind, rows in (("decoder", 3), ("encoder", 4)):
        (concluded, *differing), found = sentence_maps(reverse, translation, kind, 0, norms)
        maps, (said, by_norms, by_zeroing) = zip(*found, strict=True)
        assert f" of {rows} rows" in by_norms
        same = next(n for n in range(rows + 1) if f" in {n} of {rows} rows" in by_zeroing)
        chance = sum(1 / (row + 2) if kind == "decoder" else 1 / rows for row in range(rows))
        assert concluded == conclusion(same, rows, chance), "by the rows that have a choice"
        framed = [dict(each.marks.cells) for each in maps]
        assert framed[0].keys() == framed[1].keys() == framed[2].keys()
        assert all(each.values[row, key] == each.values[row].max() for each in maps for row, key in each.marks.cells)
        assert all(len({keys[row] for keys in framed}) > 1 for row in framed[0]), "rows that differ, and no others"
        assert ("Framed" in said) is bool(framed[0])
        expected = [
            f"Row “{maps[0].row_labels[row]}”: weights at {at[0]}, norms at {at[1]}, values set to zero at {at[2]}."
            for row in framed[0]
            if (at := [f"“{maps[0].column_labels[keys[row]]}”" for keys in framed])
        ]
        assert differing == (expected if len(expected) <= 3 else []), "few rows that differ are named"


def test_maps_are_compared_row_by_row(measured: Measured, reverse: LoadedModel) -> None:
    sample, model = measured.sample.part(range(5)), reverse.transformer
    found = map_agreement(reverse, sample, quiet)
    for (kind, layer), shares in found.same.items():
        hits, chance = [], []
        for src, read in pairs_of(sample):
            weights = recorded(model, src, read).weights(kind)[layer].mean(axis=0)
            zeroed = value_zeroing(model, src, read, kind, layer)
            for row, (one, two) in enumerate(zip(weights, zeroed, strict=True)):
                n_keys = row + 1 if kind == "decoder" else len(one)
                if n_keys > 1 and two.any():
                    hits.append(one.argmax() == two.argmax())
                    chance.append(1 / n_keys)
        assert float(shares["weights", "zeroed"].value) == pytest.approx(np.mean(hits))
        assert found.chance[kind, layer] == pytest.approx(np.mean(chance))
    assert len(found.rows()) == len(found.same) == sum(map(reverse.model_config.n_layers, ATTENTION_KINDS))
    assert "Over 5 sentences: the key with the largest weight" in found.caption()
    assert "so the two are no independent evidence" in found.caption()
