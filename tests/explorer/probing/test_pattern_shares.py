"""Every formula of the head statistics against an independent computation, one number at a time."""

from __future__ import annotations

import math

import numpy as np

from explorer.decoding.attention_maps import diagonal, mirror
from explorer.probing import pattern_shares as formulas
from explorer.probing.measurement import WITHOUT_SINKS, sentence_scores
from explorer.probing.pattern_cells import punctuation, rarest
from explorer.probing.pattern_shares import divergences
from model.analysis.word_alignment import gold_cells
from tests.explorer.probed import HEADS, observed, one_hot, random_observed


def loops(weights: np.ndarray, score) -> float:  # type: ignore[no-untyped-def]
    """Mean of score(i, row) over the rows for which it is not None, one number at a time."""
    found = [score(i, [float(a) for a in row]) for i, row in enumerate(weights)]
    known = [value for value in found if value is not None]
    return sum(known) / len(known)


def close(found: np.ndarray, expected: float) -> bool:
    return math.isclose(float(found), expected, rel_tol=1e-6, abs_tol=1e-9)


def test_entropy_effective_keys_and_confidence() -> None:
    item = random_observed()
    for kind in ("encoder", "decoder", "cross"):
        found = sentence_scores(item, kind)  # type: ignore[arg-type]
        rows = item.trace.weights(kind)[0, 1]  # type: ignore[arg-type]
        causal = kind == "decoder"

        def h(row: list[float]) -> float:
            return -sum(a * math.log(a) for a in row if a > 0)

        def m(i: int, row: list[float], causal: bool = causal) -> int:
            return i + 1 if causal else len(row)

        assert close(found["effective_keys"][0, 1], loops(rows, lambda i, r: math.exp(h(r)) if m(i, r) > 1 else None))
        assert close(
            found["normalised_entropy"][0, 1],
            loops(rows, lambda i, r: h(r) / math.log(m(i, r)) if m(i, r) > 1 else None),
        )
        last = len(rows[0]) if causal else len(rows[0]) - 1
        skip = len(rows) - 1 if kind == "encoder" else -1
        assert close(
            found["confidence"][0, 1],
            loops(rows, lambda i, r, last=last, skip=skip: max(r[:last]) if m(i, r) > 1 and i != skip else None),
        )


def test_shares_of_places() -> None:
    item = random_observed()
    rows = item.trace.encoder[0, 0]
    found = sentence_scores(item, "encoder")
    n = len(rows)
    assert close(found["previous"][0, 0], loops(rows, lambda i, r: r[i - 1] if i else None))
    assert close(found["itself"][0, 0], loops(rows, lambda i, r: r[i]))
    assert close(found["next"][0, 0], loops(rows, lambda i, r: r[i + 1] if i + 1 < n else None))
    assert close(found["first"][0, 0], loops(rows, lambda i, r: r[0]))
    assert close(found["end"][0, 0], loops(rows, lambda i, r: r[-1]))
    assert close(found["elsewhere"][0, 0], loops(rows, lambda i, r: sum(r[1:-1])))
    assert close(found["mean_distance"][0, 0], loops(rows, lambda i, r: sum(a * abs(i - j) for j, a in enumerate(r))))
    hit = sum(float(rows[i, i - 1]) for i in range(2, n))  # row 1's previous token is the first: a sink
    spent = sum(float(rows[i, j]) for i in range(2, n) for j in range(1, n - 1))
    assert close(found["previous" + WITHOUT_SINKS][0, 0], hit / spent)


def test_decoder_rows_that_see_one_key_do_not_count() -> None:
    item = random_observed()
    rows = item.trace.decoder[0, 0]
    found = sentence_scores(item, "decoder")
    assert close(found["itself"][0, 0], loops(rows, lambda i, r: r[i] if i else None))
    assert close(found["first"][0, 0], loops(rows, lambda i, r: r[0] if i else None))
    assert np.isnan(found["next"]).all(), "the future is closed"
    assert "end" not in found


def test_duplicates_are_other_copies_and_earlier_ones_in_the_decoder() -> None:
    ids, reads = (10, 11, 10, 12, 11, 10), (40, 41, 40, 40)
    item = random_observed(src_ids=ids, read_ids=reads)
    encoder = sentence_scores(item, "encoder")["duplicate"][0, 0]
    copies = [[j for j, other in enumerate(ids) if other == token and j != i] for i, token in enumerate(ids)]
    expected = [sum(float(item.trace.encoder[0, 0, i, j]) for j in places) for i, places in enumerate(copies) if places]
    assert close(encoder, sum(expected) / len(expected))
    decoder = sentence_scores(item, "decoder")["duplicate"][0, 0]
    w = item.trace.decoder[0, 0]
    assert close(decoder, (float(w[3, 1]) + float(w[4, 1]) + float(w[4, 3])) / 2)


def test_punctuation_and_rare_words() -> None:
    item = random_observed(
        src_tokens=("Yes", ",", "it", "is", "…", "."),
        counts=(9, 30, 2, 8, 2, 40),
    )
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


def test_alignment_accuracy_and_error_rate_for_both_choices_of_rows() -> None:
    item = random_observed(alignment=GOLD)
    found = sentence_scores(item, "cross")
    for suffix, shift in (("", 0), ("_input", 1)):
        w = item.trace.cross[0, 1]
        sets = {t + shift: set(places) for t, places in enumerate(GOLD) if places}
        best = {row: max(range(w.shape[1]), key=lambda j, row=row: w[row, j]) for row in sets}
        assert close(found["accuracy" + suffix][0, 1], sum(best[r] in sets[r] for r in sets) / len(sets))
        a = {(r, j) for r, j in best.items() if j != w.shape[1] - 1}
        p = {(r, j) for r, places in sets.items() for j in places}
        s = {(r, j) for r, places in sets.items() for j in places if len(places) == 1}
        assert close(found["error_rate" + suffix][0, 1], 1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))
        mass = [sum(float(w[r, j]) for j in places) for r, places in sets.items()]
        assert close(found["aligned" + suffix][0, 1], sum(mass) / len(mass))


def test_ties_are_shared_out() -> None:
    even = np.full((1, 4, 5), 0.2)
    gold = gold_cells(((0,), (1, 2), (), (3,)), 4, 5)
    assert close(formulas.alignment_accuracy(even, gold)[0], (1 / 5 + 2 / 5 + 1 / 5) / 3)


def test_a_perfect_alignment_has_no_error_though_several_tokens_are_right() -> None:
    gold = gold_cells(((0, 2), (1,), (0, 2)), 4, 5)
    weights = np.stack([one_hot(key, 5) for key in (2, 1, 0, 4)])[None]
    assert formulas.alignment_error_rate(weights, gold)[0] == 0.0
    assert formulas.alignment_accuracy(weights, gold)[0] == 1.0


def test_coverage() -> None:
    item = random_observed()
    w = item.trace.cross[0, 0]
    columns = [sum(float(w[i, j]) for i in range(w.shape[0])) for j in range(w.shape[1])]
    assert np.allclose(formulas.coverage(w), columns)
    own = columns[:-1]
    mean = sum(own) / len(own)
    deviation = math.sqrt(sum((c - mean) ** 2 for c in own) / len(own))
    assert close(sentence_scores(item, "cross")["coverage_spread"][0, 0], deviation / mean)


# How alike heads are.


def test_divergence_is_jensen_shannon() -> None:
    item = random_observed()
    rows = np.ones(7, dtype=bool)
    found = divergences(item.trace.encoder, rows)
    p, q = item.trace.encoder[0].astype(float)

    def kl(a: np.ndarray, b: np.ndarray) -> float:
        return sum(x * math.log2(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    middle = (p + q) / 2
    expected = np.mean([(kl(p[i], middle[i]) + kl(q[i], middle[i])) / 2 for i in range(7)])
    assert np.isclose(found[0, 1], expected)
    assert np.allclose(found, found.T)
    assert np.allclose(np.diag(found), 0)


def test_heads_with_nothing_in_common_are_one_bit_apart() -> None:
    item = observed(encoder=(HEADS["first"], HEADS["end"]))
    assert np.isclose(divergences(item.trace.encoder, np.ones(9, dtype=bool))[0, 1], 1.0)
