"""Every formula of the head statistics, of rows and of whole samples, against loops over single numbers."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from explorer.decoding.attention_maps import diagonal, mirror
from explorer.probing.corpus_scores import CorpusTally
from explorer.probing.measurement import WITHOUT_SINKS, sentence_scores
from explorer.probing.pattern_cells import punctuation, rarest
from explorer.probing.pattern_shares import relative_map, shares_of_bins
from model.analysis.recorded_batches import Observed
from model.config import ATTENTION_KINDS, AttentionKind
from tests.explorer.probed import probe_of, random_observed, with_untrained


def loops(weights: np.ndarray, score) -> float:
    """Mean of score(i, row) over the rows for which it is not None, one number at a time."""
    found = [score(i, [float(a) for a in row]) for i, row in enumerate(weights)]
    known = [value for value in found if value is not None]
    return sum(known) / len(known)


def close(found: np.ndarray, expected: float) -> bool:
    return math.isclose(float(found), expected, rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_entropy_effective_keys_and_confidence(kind: AttentionKind) -> None:
    item, causal = random_observed(), kind == "decoder"
    found, rows = sentence_scores(item, kind), item.trace.weights(kind)[0, 1]
    last, skip = len(rows[0]) - (not causal), len(rows) - 1 if kind == "encoder" else -1

    def h(row: list[float]) -> float:
        return -sum(a * math.log(a) for a in row if a > 0)

    def per_row(name: str, score: Callable[[int, list[float], int], float | None]) -> None:
        """The mean over the rows that see more than one key."""

        def counted(i: int, row: list[float]) -> float | None:
            keys = i + 1 if causal else len(row)
            return score(i, row, keys) if keys > 1 else None

        assert close(found[name][0, 1], loops(rows, counted)), name

    per_row("effective_keys", lambda i, row, keys: math.exp(h(row)))
    per_row("normalised_entropy", lambda i, row, keys: h(row) / math.log(keys))
    per_row("confidence", lambda i, row, keys: max(row[:last]) if i != skip else None)


def test_shares_of_places() -> None:
    item = random_observed()
    rows, found = item.trace.encoder[0, 0], sentence_scores(item, "encoder")
    n = len(rows)
    expected = {
        "previous": lambda i, r: r[i - 1] if i else None,
        "itself": lambda i, r: r[i],
        "next": lambda i, r: r[i + 1] if i + 1 < n else None,
        "first": lambda i, r: r[0],
        "end": lambda i, r: r[-1],
        "elsewhere": lambda i, r: sum(r[1:-1]),
        "mean_distance": lambda i, r: sum(a * abs(i - j) for j, a in enumerate(r)),
    }
    for name, score in expected.items():
        assert close(found[name][0, 0], loops(rows, score)), name
    hit = sum(float(rows[i, i - 1]) for i in range(2, n))  # row 1's previous token is the first: a sink
    spent = sum(float(rows[i, j]) for i in range(2, n) for j in range(1, n - 1))
    assert close(found["previous" + WITHOUT_SINKS][0, 0], hit / spent)


def test_duplicates_are_other_copies_and_earlier_ones_in_the_decoder() -> None:
    ids, reads = (10, 11, 10, 12, 11, 10), (40, 41, 40, 40)
    item = random_observed(src_ids=ids, read_ids=reads)
    encoder = sentence_scores(item, "encoder")["duplicate"][0, 0]
    copies = [[j for j, other in enumerate(ids) if other == token and j != i] for i, token in enumerate(ids)]
    expected = [sum(float(item.trace.encoder[0, 0, i, j]) for j in places) for i, places in enumerate(copies) if places]
    assert close(encoder, sum(expected) / len(expected))
    decoder, w = sentence_scores(item, "decoder")["duplicate"][0, 0], item.trace.decoder[0, 0]
    assert close(decoder, (float(w[3, 1]) + float(w[4, 1]) + float(w[4, 3])) / 2)


def test_punctuation_and_rare_words() -> None:
    item = random_observed(src_tokens=("Yes", ",", "it", "is", "…", "."), counts=(9, 30, 2, 8, 2, 40))
    assert punctuation(item.trace.src_tokens).tolist() == [False, True, False, False, True, True, False]
    assert punctuation(("<eos>", "don't", "?!", "$", "")).tolist() == [False, False, True, False, False]
    assert rarest(item).tolist() == [False, False, True, False, True, False, False]
    w = item.trace.cross[0, 0]
    found = sentence_scores(item, "cross")
    assert close(found["punctuation"][0, 0], loops(w, lambda i, r: r[1] + r[4] + r[5]))
    assert close(found["rare"][0, 0], loops(w, lambda i, r: r[2] + r[4]))
    assert not rarest(random_observed()).any(), "where all are equally frequent, none is rare"
    e = item.trace.encoder[0, 0]
    own = sentence_scores(item, "encoder")["punctuation"][0, 0]
    assert close(own, loops(e, lambda i, r: sum(r[j] for j in (1, 4, 5) if j != i)))


def test_diagonal_and_mirror() -> None:
    assert diagonal(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert diagonal(3, 5).tolist() == [0, 2, 4]
    assert mirror(5, 5).tolist() == [3, 2, 1, 0, 4]
    assert mirror(1, 4).tolist() == [3]
    item = random_observed(n_src=5, n_tgt=5)
    w = item.trace.cross[0, 0]
    assert close(sentence_scores(item, "cross")["mirror"][0, 0], loops(w, lambda i, r: r[[3, 2, 1, 0, 4][i]]))


GOLD = ((2,), (0, 1), (), (4,))


def test_alignment_accuracy_and_weight_for_both_choices_of_rows() -> None:
    item = random_observed(alignment=GOLD)
    found, w = sentence_scores(item, "cross"), item.trace.cross[0, 1]
    for suffix, shift in (("", 0), ("_input", 1)):
        sets = {t + shift: set(places) for t, places in enumerate(GOLD) if places}
        best = {row: w[row].tolist().index(max(w[row])) for row in sets}
        assert close(found["accuracy" + suffix][0, 1], sum(best[r] in sets[r] for r in sets) / len(sets))
        mass = [sum(float(w[r, j]) for j in places) for r, places in sets.items()]
        assert close(found["aligned" + suffix][0, 1], sum(mass) / len(mass))


@pytest.mark.parametrize(("n", "bins"), [(1, 4), (3, 4), (4, 4), (9, 4), (25, 12)])
def test_a_map_by_relative_position_is_weight_moved_token_by_token(n: int, bins: int) -> None:
    weights = np.random.default_rng(n).dirichlet(np.ones(n + 1), size=(2, n))
    found = relative_map(weights, bins)
    assert found.shape == (2, bins, bins)
    assert np.allclose(found.sum(-1), 1)
    fine = 5040  # parts so small that each lies in one token and one bin
    at = [int((i + 0.5) / fine * n) for i in range(fine)]
    expected = np.zeros((bins, bins))
    for q in range(bins):
        row = weights[0, [at[i] for i in range(q * fine // bins, (q + 1) * fine // bins)]].mean(axis=0)
        for key, weight in enumerate(row):
            inside = [int((i + 0.5) / fine * bins) for i in range(key * fine // (n + 1), (key + 1) * fine // (n + 1))]
            for k in inside:
                expected[q, k] += weight / len(inside)
    assert np.allclose(found[0], expected, atol=2e-3)
    assert np.allclose(relative_map(np.eye(bins * n), bins), np.eye(bins)), "the diagonal stays the diagonal"
    assert np.allclose(shares_of_bins(n, bins).sum(axis=0), 1)


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
