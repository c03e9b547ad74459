"""Scores of a whole sample against loops over all of its links and tokens."""

import statistics

import numpy as np
import pytest

from explorer.probing.corpus_scores import CorpusTally
from explorer.probing.tables import head_numbers, head_rows, whole_title
from model.analysis.recorded_batches import Observed
from tests.explorer.probed import HEADS, observed, one_hot, probe_of, random_observed, with_untrained

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


def test_it_is_not_the_mean_over_sentences_except_of_one_sentence(items: list[Observed]) -> None:
    cross, alone = (probe_of(some).kinds["cross"] for some in (items, items[:1]))
    assert not np.allclose(cross.corpus["error_rate"].own, cross.scores["error_rate"].mean)
    for name, part, other in (
        ("error_rate", "own", "mean"),
        ("error_rate_input", "own", "mean"),
        ("error_rate", "untrained", "untrained"),
        ("error_rate", "uniform", "uniform"),
        ("coverage_spread", "own", "mean"),
    ):
        assert np.allclose(getattr(alone.corpus[name], part), getattr(alone.scores[name], other)), name


def test_coverage_of_all_source_tokens(items: list[Observed]) -> None:
    found = tallied(items).result()["coverage_spread"]
    covered = [float(c) for item in items for c in item.trace.cross[0, 1].sum(axis=0, dtype=np.float64)[:-1]]
    assert found.own[0, 1] == pytest.approx(statistics.pstdev(covered) / statistics.fmean(covered))


def test_a_perfect_head_makes_no_error_and_the_end_of_a_sentence_counts_as_no_link() -> None:
    gold = tuple((i,) for i in range(4))
    perfect = observed(5, 5, cross=(lambda q, n: one_hot(q, n), HEADS["end"]), alignment=gold)
    assert tallied([perfect]).result()["error_rate"].own.tolist() == [[0.0, 1.0]]
    assert set(tallied([random_observed()]).result()) == {"coverage_spread"}, "without known alignments"


def test_tables_name_both_figures_clearly(items: list[Observed]) -> None:
    probe = probe_of(items)
    name, whole = whole_title("error_rate"), probe.kinds["cross"].corpus["error_rate"]
    assert "whole sample" in name
    lines = {row["statistic"]: row for row in head_numbers(probe, "cross", 0, 1)}
    own = float(whole.own[0, 1])
    assert (lines[name]["mean"], lines[name]["uniform"]) == (round(own, 4), round(whole.uniform, 4))
    assert lines[name]["standard deviation"] is None
    assert lines["alignment error rate"]["mean"] != lines[name]["mean"]
    row = next(row for row in head_rows(probe) if (row["kind"], row["head"]) == ("cross", "L1 H2"))
    assert row[name].startswith(f"{own:.2f} (")
