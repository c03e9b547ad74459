"""Scores of a whole sample against loops over all of its links and tokens."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from explorer.probing.corpus_scores import CorpusTally
from explorer.probing.measurement import Tally
from explorer.probing.tables import head_numbers, head_rows, whole_title
from model.analysis.recorded_batches import Observed
from tests.explorer.probed import HEADS, observed, one_hot, random_observed, with_untrained

GOLDS = (((2,), (0, 1), (), (4,)), ((0,), (3,)), ((1,), (1,), (2, 3), (0,)))


@pytest.fixture
def items() -> list[Observed]:
    """Sentences of unequal length, so that the mean over sentences differs."""
    sizes = ((7, 5), (5, 3), (9, 8))
    return [
        random_observed(seed=seed, n_src=n_src, n_tgt=n_tgt, alignment=gold)
        for seed, ((n_src, n_tgt), gold) in enumerate(zip(sizes, GOLDS, strict=True))
    ]


def tallied(items: list[Observed]) -> CorpusTally:
    tally = CorpusTally()
    for seed, item in enumerate(items):
        tally.add(seed, item, with_untrained(item, seed)["cross"])
    return tally


def test_the_error_rate_counts_the_links_of_all_sentences(items: list[Observed]) -> None:
    found = tallied(items).result()
    for name, shift in (("error_rate", 0), ("error_rate_input", 1)):
        for head in range(2):
            hits = total = 0
            for item, gold in zip(items, GOLDS, strict=True):
                w = item.trace.cross[0, head]
                sets = {t + shift: set(places) for t, places in enumerate(gold) if places and t + shift < len(w)}
                best = {row: int(np.argmax(w[row])) for row in sets}
                a = {(row, j) for row, j in best.items() if j != w.shape[1] - 1}
                p = {(row, j) for row, places in sets.items() for j in places}
                s = {(row, j) for row, places in sets.items() for j in places if len(places) == 1}
                hits += len(a & s) + len(a & p)
                total += len(a) + len(s)
            assert found[name].own[0, head] == pytest.approx(1 - hits / total)
        assert found[name].sentences == 3


def test_it_is_not_the_mean_over_sentences(items: list[Observed]) -> None:
    tally = Tally()
    for i, item in enumerate(items):
        tally.add(i, item, with_untrained(item, i))
    cross = tally.result().kinds["cross"]
    assert not np.allclose(cross.corpus["error_rate"].own, cross.scores["error_rate"].mean)
    single = Tally()
    single.add(0, items[0], with_untrained(items[0], 0))
    alone = single.result().kinds["cross"]
    assert np.allclose(alone.corpus["error_rate"].own, alone.scores["error_rate"].mean)
    assert np.allclose(alone.corpus["error_rate"].untrained, alone.scores["error_rate"].untrained)
    assert np.isclose(alone.corpus["error_rate"].uniform, alone.scores["error_rate"].uniform)
    assert np.allclose(alone.corpus["coverage_spread"].own, alone.scores["coverage_spread"].mean)


def test_coverage_of_all_source_tokens(items: list[Observed]) -> None:
    found = tallied(items).result()["coverage_spread"]
    covered = [float(c) for item in items for c in item.trace.cross[0, 1].sum(axis=0, dtype=np.float64)[:-1]]
    assert found.own[0, 1] == pytest.approx(statistics.pstdev(covered) / statistics.fmean(covered))


def test_a_perfect_head_makes_no_error_and_the_end_of_a_sentence_counts_as_no_link() -> None:
    gold = tuple((i,) for i in range(4))
    perfect = observed(5, 5, cross=(lambda q, n: one_hot(q, n), HEADS["end"]), alignment=gold)
    tally = CorpusTally()
    tally.add(0, perfect, with_untrained(perfect, 0)["cross"])
    assert tally.result()["error_rate"].own.tolist() == [[0.0, 1.0]]


def test_without_known_alignments_there_is_no_error_rate() -> None:
    item = random_observed()
    tally = CorpusTally()
    tally.add(0, item, with_untrained(item, 0)["cross"])
    assert set(tally.result()) == {"coverage_spread"}


def test_tables_name_both_figures_clearly(items: list[Observed]) -> None:
    tally = Tally()
    for i, item in enumerate(items):
        tally.add(i, item, with_untrained(item, i))
    probe = tally.result()
    name = "alignment error rate, whole sample (Och & Ney 2003)"
    assert whole_title("error_rate") == name
    lines = {row["statistic"]: row for row in head_numbers(probe, "cross", 0, 1)}
    whole = probe.kinds["cross"].corpus["error_rate"]
    assert lines[name]["mean"] == round(float(whole.own[0, 1]), 4)
    assert lines[name]["uniform"] == round(whole.uniform, 4)
    assert lines[name]["standard deviation"] is None
    assert lines["alignment error rate"]["mean"] != lines[name]["mean"]
    row = next(row for row in head_rows(probe) if (row["kind"], row["head"]) == ("cross", "L1 H2"))
    assert row[name] == round(float(whole.own[0, 1]), 3)
