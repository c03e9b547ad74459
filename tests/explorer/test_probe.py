"""Statistics of heads over a sample, and the names that heads get: planted heads have to be found."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from explorer import probe_scores as scores
from explorer.probe import STATISTICS, WITHOUT_SINKS, Probe, Tally, sentence_scores
from explorer.probe_roles import MIN_SENTENCES, NO_ROLE, TOO_FEW, role_of, threshold
from explorer.probe_similarity import divergences, head_map, most_alike
from explorer.probe_targets import aligned_cells, diagonal, mirror, punctuation, rarest
from model.checkpoint import load_model
from model.data import get_task
from model.sample import observe, untrained_like, written_sample
from tests.explorer.probed import HEADS, observed, one_hot, with_untrained

ROOT = Path(__file__).parents[2]


def probed(count: int = MIN_SENTENCES, **heads: object) -> Probe:
    """The planted heads measured on `count` sentences of 6 to 14 tokens."""
    tally = Tally()
    for i in range(count):
        n_src, n_tgt = 6 + i % 9, 6 + (i * 5) % 9
        made = {name: value(n_src, n_tgt) if callable(value) else value for name, value in heads.items()}
        item = observed(n_src, n_tgt, **made)  # type: ignore[arg-type]
        tally.add(i, item, with_untrained(item, seed=i))
    return tally.result()


def names(probe: Probe, kind: str) -> list[str]:
    found = probe.kinds[kind]  # type: ignore[index]
    return [role_of(found, layer, head).name for layer in range(found.n_layers) for head in range(found.n_heads)]


# Planted heads are named.


def test_planted_encoder_heads_are_named() -> None:
    planted = ("previous", "first", "end", "itself", "next", "uniform", "sink and previous")
    probe = probed(encoder=tuple(HEADS[name] for name in planted))
    assert names(probe, "encoder") == [
        "previous token",
        "sink: first token",
        "sink: end of sentence",
        "itself",
        "next token",
        NO_ROLE,
        "sink: first token + previous token",
    ]


def test_planted_decoder_heads_are_named() -> None:
    planted = ("previous", "first", "itself", "uniform", "sink and previous")
    probe = probed(decoder=tuple(HEADS[name] for name in planted))
    assert names(probe, "decoder") == [
        "previous token",
        "sink: first token",
        "itself",
        NO_ROLE,
        "sink: first token + previous token",
    ]


def test_planted_cross_heads_are_named() -> None:
    def cross(n_src: int, n_tgt: int) -> tuple[object, ...]:
        straight, back = diagonal(n_tgt, n_src), mirror(n_tgt, n_src)
        return (
            lambda q, n: one_hot(int(straight[q]), n),
            lambda q, n: one_hot(int(back[q]), n),
            HEADS["end"],
            HEADS["uniform"],
        )

    probe = probed(cross=cross)
    assert names(probe, "cross") == ["diagonal", "mirror", "sink: end of sentence", NO_ROLE]


def test_a_perfect_previous_head_scores_one() -> None:
    found = sentence_scores(observed(encoder=(HEADS["previous"],), decoder=(HEADS["previous"],)), "encoder")
    assert found["previous"][0, 0] == 1.0
    assert found["previous" + WITHOUT_SINKS][0, 0] == 1.0


def test_few_sentences_carry_no_role() -> None:
    found = probed(MIN_SENTENCES - 1, encoder=(HEADS["previous"],)).kinds["encoder"]
    role = role_of(found, 0, 0)
    assert role.name == TOO_FEW
    assert not role.clear
    assert str(MIN_SENTENCES - 1) in role.evidence


def test_evidence_holds_score_baselines_and_size() -> None:
    found = probed(encoder=(HEADS["previous"],)).kinds["encoder"]
    role = role_of(found, 0, 0)
    item = found.scores["previous" + WITHOUT_SINKS]
    assert role.evidence.startswith(f"Previous token, of what does not go to sinks: 1.00 ± 0.00 over {item.sentences}")
    assert f"needed {threshold(item, 0):.2f}" in role.evidence
    assert item.uniform < threshold(item, 0) - 0.25


def test_what_does_not_reach_the_margin_is_no_role() -> None:
    def weak(q: int, n: int) -> np.ndarray:
        return 0.8 * HEADS["uniform"](q, n) + 0.2 * one_hot(q - 1, n)

    role = role_of(probed(encoder=(weak,)).kinds["encoder"], 0, 0)
    assert role.name == NO_ROLE
    assert "Nearest: Previous token" in role.evidence


def test_a_head_that_is_all_sink_has_no_second_role() -> None:
    def parked(q: int, n: int) -> np.ndarray:
        return 0.9 * one_hot(0, n) + 0.1 * one_hot(q - 1, n)

    assert names(probed(encoder=(parked,)), "encoder") == ["sink: first token"]


@pytest.mark.parametrize("name", ["reverse", "adjective-swap", "dates"])
def test_untrained_models_get_no_role(name: str) -> None:
    """Of three models that nobody trained, no head may be named, whatever other untrained models they stand beside."""
    loaded = load_model(ROOT / "checkpoints" / name)
    examples = get_task(loaded.data_config.task, split_seed=0).splits["test"][::12][:80]
    if len(examples) < MIN_SENTENCES:
        examples = get_task(loaded.data_config.task, split_seed=0).splits["test"][:80]
    sample = written_sample(examples, loaded.source, loaded.target, loaded.model_config.max_positions)
    for own in (101, 102, 103):
        models = [untrained_like(loaded.model, seed) for seed in (own, 1, 2, 3, 4, 5)]
        tally = Tally()
        for index, item, weights in observe(models, sample, loaded.source, loaded.target):
            tally.add(index, item, weights)
        probe = tally.result()
        assert {role for kind in probe.kinds for role in names(probe, kind)} == {NO_ROLE}


def test_the_true_head_of_reverse_is_found_by_itself() -> None:
    loaded = load_model(ROOT / "checkpoints" / "reverse")
    examples = get_task("reverse").splits["test"][::10]
    sample = written_sample(examples, loaded.source, loaded.target, loaded.model_config.max_positions)
    models = [loaded.model, *(untrained_like(loaded.model, seed) for seed in range(5))]
    tally = Tally()
    for index, item, weights in observe(models, sample, loaded.source, loaded.target):
        tally.add(index, item, weights)
    found = tally.result().kinds["cross"]
    layer, head = np.unravel_index(found.scores["error_rate"].mean.argmin(), (found.n_layers, found.n_heads))
    assert found.scores["error_rate"].mean[layer, head] <= 0.05
    assert found.scores["accuracy"].mean[layer, head] >= 0.95
    assert role_of(found, int(layer), int(head)).name == "alignment (predicts)"
    # The token just read stands one place further right in the source: the other choice of rows does not fit.
    assert found.scores["accuracy_input"].mean[layer, head] < 0.1


# Every formula against another computation.


def random_observed(seed: int = 3, n_src: int = 7, n_tgt: int = 5, **more: object):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)

    def noise(q: int, n: int) -> np.ndarray:
        row = rng.random(n) ** 3
        return (row / row.sum()).astype(np.float32)

    return observed(n_src, n_tgt, encoder=(noise, noise), decoder=(noise, noise), cross=(noise, noise), **more)  # type: ignore[arg-type]


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
    gold = aligned_cells(((0,), (1, 2), (), (3,)), 4, 5)
    assert close(scores.alignment_accuracy(even, gold)[0], (1 / 5 + 2 / 5 + 1 / 5) / 3)


def test_a_perfect_alignment_has_no_error_though_several_tokens_are_right() -> None:
    gold = aligned_cells(((0, 2), (1,), (0, 2)), 4, 5)
    weights = np.stack([one_hot(key, 5) for key in (2, 1, 0, 4)])[None]
    assert scores.alignment_error_rate(weights, gold)[0] == 0.0
    assert scores.alignment_accuracy(weights, gold)[0] == 1.0


def test_coverage() -> None:
    item = random_observed()
    w = item.trace.cross[0, 0]
    columns = [sum(float(w[i, j]) for i in range(w.shape[0])) for j in range(w.shape[1])]
    assert np.allclose(scores.coverage(w), columns)
    own = columns[:-1]
    mean = sum(own) / len(own)
    deviation = math.sqrt(sum((c - mean) ** 2 for c in own) / len(own))
    assert close(sentence_scores(item, "cross")["coverage_spread"][0, 0], deviation / mean)


def test_uniform_attention_is_its_own_baseline() -> None:
    found = probed(encoder=(HEADS["uniform"],), cross=(HEADS["uniform"],), decoder=(HEADS["uniform"],))
    for kind in found.kinds.values():
        for name, item in kind.scores.items():
            assert np.allclose(item.mean, item.uniform, atol=1e-6, equal_nan=True), name


def test_means_and_spreads_over_sentences_and_seeds() -> None:
    items = [random_observed(seed=seed, n_src=6 + seed, n_tgt=5 + seed) for seed in range(4)]
    tally, kept = Tally(), []
    for i, item in enumerate(items):
        weights = with_untrained(item, seed=i)
        kept.append(weights)
        tally.add(i, item, weights)
    found = tally.result().kinds["encoder"].scores["next"]
    own = [sentence_scores(item, "encoder")["next"][0] for item in items]
    assert np.allclose(found.mean[0], np.mean(own, axis=0))
    assert np.allclose(found.spread[0], np.std(own, axis=0))
    seeds = np.array(
        [
            np.mean(
                [
                    sentence_scores(item, "encoder", w["encoder"][s])["next"][0]
                    for item, w in zip(items, kept, strict=True)
                ],
                axis=0,
            )
            for s in range(1, 6)
        ]
    )  # [seed, head]
    assert np.isclose(found.untrained[0], seeds.mean())
    assert np.isclose(found.untrained_spread[0], seeds.std())
    assert found.sentences == 4


def test_the_order_of_sentences_does_not_matter() -> None:
    items = [random_observed(seed=seed, n_src=6 + seed) for seed in range(3)]
    forward, backward = Tally(), Tally()
    for i in range(3):
        forward.add(i, items[i], with_untrained(items[i], seed=i))
        backward.add(2 - i, items[2 - i], with_untrained(items[2 - i], seed=2 - i))
    one, two = forward.result().kinds["cross"], backward.result().kinds["cross"]
    assert np.array_equal(one.sentence_scores["diagonal"], two.sentence_scores["diagonal"])


def test_a_place_that_no_sentence_has_is_not_a_number() -> None:
    found = probed(3, encoder=(HEADS["uniform"],)).kinds["encoder"].scores["duplicate"]
    assert found.sentences == 0
    assert np.isnan(found.mean).all()
    assert threshold(found, 0) == float("inf")


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="no sentence"):
        Tally().result()


def test_every_statistic_is_described() -> None:
    found = probed(3, alignment=((0,), (1,)))
    for kind in found.kinds.values():
        for name in kind.scores:
            assert name.removesuffix(WITHOUT_SINKS) in STATISTICS


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


def test_the_map_keeps_distances_that_fit_into_a_plane() -> None:
    places = np.array([[0.0, 0.0], [0.3, 0.1], [0.7, -0.2], [0.1, 0.6]])
    squared = ((places[:, None] - places[None]) ** 2).sum(-1)
    found = head_map(squared)
    again = ((found[:, None] - found[None]) ** 2).sum(-1)
    assert np.allclose(again, squared)


def test_the_map_of_one_head_or_unknown_heads_is_the_origin() -> None:
    assert head_map(np.zeros((1, 1))).tolist() == [[0.0, 0.0]]
    assert head_map(np.full((3, 3), np.nan)).tolist() == [[0.0, 0.0]] * 3


def test_most_alike() -> None:
    apart = np.array([[0, 0.5, 0.1], [0.5, 0, 0.9], [0.1, 0.9, 0]])
    assert most_alike(apart, 0) == [(2, 0.1), (1, 0.5)]
