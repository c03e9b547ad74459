"""Statistics of heads over a sample, and the roles of heads: planted heads must be recognised."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from explorer.decoding.attention_maps import diagonal, mirror
from explorer.probing.measurement import STATISTICS, WITHOUT_SINKS, Probe, Tally, sentence_scores
from explorer.probing.pattern_cells import lexical_cells
from explorer.probing.roles import MARGIN, MIN_SENTENCES, NO_ROLE, TOO_FEW, role_of, second_job, shortfall
from model.analysis.recorded_batches import observe, untrained_like, written_sample
from model.checkpoint import load_model
from model.data import get_task
from tests.explorer.probed import HEADS, observed, one_hot, random_observed, with_untrained
from tests.paths import ROOT


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


def repeated(n: int, start: int) -> tuple[int, ...]:
    """Ids of which the second half repeats the first."""
    half = [start + i for i in range((n + 1) // 2)]
    return tuple((half + half)[:n])


def test_planted_induction_heads_are_named() -> None:
    """A head that looks at the token after the earlier copy, and one that looks at the copy itself."""

    def looks(ids: tuple[int, ...], shift: int) -> object:
        def row(q: int, n: int) -> np.ndarray:
            copies = [j for j in range(1, q) if j < n and ids[j - 1] == ids[q - 1]] if q else []
            return one_hot(copies[-1] + shift, n) if copies else HEADS["uniform"](q, n)

        return row

    tally = Tally()
    for i in range(MIN_SENTENCES):
        ids = repeated(6 + i % 9, 40)
        item = observed(7, len(ids) + 1, decoder=(looks(ids, 1), looks(ids, 0), HEADS["uniform"]), read_ids=ids)
        tally.add(i, item, with_untrained(item, seed=i))
    assert names(tally.result(), "decoder") == ["induction", "duplicate token", NO_ROLE]


def test_a_planted_lexical_head_is_told_from_one_that_knows_positions() -> None:
    """Translations in an order of their own: looking along the diagonal finds many of them, but knows no words."""
    tally, rng = Tally(), np.random.default_rng(5)
    for i in range(MIN_SENTENCES + 10):  # a few sentences have no two distances
        n = 6 + i % 9
        order = np.arange(n - 1)
        for j in range(0, n - 2, 2):  # neighbours change places now and then
            if rng.random() < 0.5:
                order[[j, j + 1]] = order[[j + 1, j]]
        gold = tuple((int(key),) for key in order)

        def lexical(q: int, keys: int, order: np.ndarray = order) -> np.ndarray:
            return one_hot(int(order[q]) if q < len(order) else keys - 1, keys)

        def read(q: int, keys: int, order: np.ndarray = order) -> np.ndarray:
            return one_hot(int(order[q - 1]) if q else keys - 1, keys)

        heads = (lexical, read, lambda q, keys: one_hot(q, keys), HEADS["uniform"], HEADS["end"])
        item = observed(n, n, cross=heads, alignment=gold)
        tally.add(i, item, with_untrained(item, seed=i))
    probe = tally.result()
    assert names(probe, "cross") == [
        "lexical (predicts)",
        "lexical (just read)",
        "diagonal",
        NO_ROLE,
        "sink: end of sentence",
    ]
    assert probe.gold == "tokens"


def test_the_lexical_score_is_the_smaller_of_two_so_that_reading_backwards_is_not_knowing_words() -> None:
    order = (7, 5, 6, 4, 2, 3, 1, 0)
    item = observed(
        9, 9, cross=(lambda q, keys: one_hot(max(keys - 2 - q, 0), keys),), alignment=tuple((key,) for key in order)
    )
    cells = lexical_cells(item)
    assert cells is not None
    along, against, rows = cells
    weights = item.trace.weights("cross")[0, 0]
    by_hand = [float((weights * one).sum(axis=1)[rows].mean()) for one in (along, against)]
    assert by_hand[1] < by_hand[0] - 0.1, "only beside the mirrored diagonal is it seen to know positions alone"
    assert sentence_scores(item, "cross")["lexical"][0, 0] == pytest.approx(by_hand[1])


@pytest.mark.parametrize(("uniform", "untrained", "deviation"), [(0.02, 0.5, 0.1), (0.5, 0.12, 0.1)])
def test_a_role_needs_its_margin_over_both_baselines(uniform: float, untrained: float, deviation: float) -> None:
    measured: Any = SimpleNamespace(
        estimate=SimpleNamespace(low=np.array([[0.9]])),
        over_uniform=SimpleNamespace(low=np.array([[uniform]])),
        over_untrained=SimpleNamespace(low=np.array([[untrained]])),
        untrained_std=np.array([deviation]),
    )
    assert shortfall(measured, 0, 0) == pytest.approx(MARGIN - 0.02)


def test_where_all_partners_lie_alike_words_cannot_be_told_from_positions() -> None:
    gold = tuple((i,) for i in range(8))
    probe = probed(cross=lambda n_src, n_tgt: (lambda q, n: one_hot(q, n),), alignment=gold)
    assert not names(probe, "cross")[0].startswith("lexical")


def test_a_head_keeps_its_role_whatever_the_lengths() -> None:
    """A third of its weight on the next token: clear in each sentence, though short and long ones differ by more."""

    def third(q: int, n: int) -> np.ndarray:
        return 0.65 * HEADS["uniform"](q, n) + 0.35 * one_hot(q + 1, n)

    tally = Tally()
    for i in range(MIN_SENTENCES):
        item = observed(5 if i % 2 else 24, 5, encoder=(third,))
        tally.add(i, item, with_untrained(item, seed=i))
    found = tally.result().kinds["encoder"]
    item = found.scores["next" + WITHOUT_SINKS]
    assert item.uniform_std > 0.13, "the sample needs lengths that differ"
    assert float(item.mean[0, 0]) < item.uniform + item.uniform_std + MARGIN
    assert role_of(found, 0, 0).name == "next token"


def test_random_heads_get_no_role() -> None:
    tally = Tally()
    for i in range(MIN_SENTENCES):
        item = random_observed(seed=i, n_src=5 + i % 9, n_tgt=4 + i % 7, alignment=((0,), (1,), (2,)))
        tally.add(i, item, with_untrained(item, seed=i))
    probe = tally.result()
    assert {name for kind in probe.kinds for name in names(probe, kind)} == {NO_ROLE}


def test_the_second_job_is_the_next_pattern() -> None:
    probe = probed(encoder=(HEADS["sink and previous"], HEADS["previous"]))
    found = probe.kinds["encoder"]
    job = second_job(found, role_of(found, 0, 0), 0, 0)
    assert "no second job" in job
    mixed = probed(encoder=(lambda q, n: 0.7 * one_hot(q - 1, n) + 0.3 * one_hot(q + 1, n),)).kinds["encoder"]
    assert role_of(mixed, 0, 0).name == "previous token"
    assert second_job(mixed, role_of(mixed, 0, 0), 0, 0).startswith("Its second job: Next token: 0.3")


def test_a_perfect_previous_head_scores_one() -> None:
    found = sentence_scores(observed(encoder=(HEADS["previous"],), decoder=(HEADS["previous"],)), "encoder")
    assert found["previous"][0, 0] == 1.0
    assert found["previous" + WITHOUT_SINKS][0, 0] == 1.0


def test_few_sentences_show_no_role() -> None:
    found = probed(MIN_SENTENCES - 1, encoder=(HEADS["previous"],)).kinds["encoder"]
    role = role_of(found, 0, 0)
    assert role.name == TOO_FEW
    assert not role.clear
    assert str(MIN_SENTENCES - 1) in role.evidence


def test_evidence_holds_score_baselines_and_size() -> None:
    found = probed(encoder=(HEADS["previous"],)).kinds["encoder"]
    role = role_of(found, 0, 0)
    item = found.scores["previous" + WITHOUT_SINKS]
    assert role.evidence.startswith(
        f"Previous token, of the weight outside the sinks: 1.00 (1.00 to 1.00) over {item.sentences}"
    )
    value, low, high = item.over_uniform.at(0, 0)
    assert f"beside uniform attention +{value:.2f} (+{low:.2f} to +{high:.2f})" in role.evidence
    assert f"above it in {item.sentences} of {item.sentences}" in role.evidence
    assert role.evidence.endswith(f"needed +{MARGIN:.2f}.")
    assert value == pytest.approx(1 - item.uniform)


def test_a_score_below_the_margin_is_not_a_role() -> None:
    def weak(q: int, n: int) -> np.ndarray:
        return 0.8 * HEADS["uniform"](q, n) + 0.2 * one_hot(q - 1, n)

    role = role_of(probed(encoder=(weak,)).kinds["encoder"], 0, 0)
    assert role.name == NO_ROLE
    assert "Nearest: Previous token" in role.evidence


def test_a_head_that_is_all_sink_has_no_second_role() -> None:
    def parked(q: int, n: int) -> np.ndarray:
        return 0.9 * one_hot(0, n) + 0.1 * one_hot(q - 1, n)

    assert names(probed(encoder=(parked,)), "encoder") == ["sink: first token"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reverse", "adjective-swap", "dates"])
def test_untrained_models_get_no_role(name: str) -> None:
    """No head of three untrained models gets a role, whichever other untrained models are the baseline."""
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
    # The token just read is one position further right in the source: the other choice of rows does not fit.
    assert found.scores["accuracy_input"].mean[layer, head] < 0.1


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
    assert np.allclose(found.std[0], np.std(own, axis=0))
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
    assert np.isclose(found.untrained_std[0], seeds.std())
    assert found.sentences == 4


def test_the_model_itself_stands_apart_from_the_untrained_ones() -> None:
    items = [random_observed(seed=seed) for seed in range(3)]
    tally = Tally()
    for i, item in enumerate(items):
        tally.add(i, item, with_untrained(item, seed=i, seeds=4))
    found = tally.result()
    assert (found.sentences, found.seeds) == (3, 4)
    single = found.kinds["encoder"].single["next"].own
    assert np.allclose(single, [sentence_scores(item, "encoder")["next"] for item in items])


def test_untrained_scores_are_those_of_the_same_layer() -> None:
    """Two layers whose untrained heads all differ: each layer's baseline is the mean over its own heads and seeds."""
    item = random_observed()
    weights = with_untrained(item, seed=0)
    other = with_untrained(item, seed=1)
    stacked = {kind: np.concatenate([weights[kind], other[kind]], axis=1) for kind in weights}
    tally = Tally()
    tally.add(0, item, stacked)
    for kind, found in tally.result().kinds.items():
        by_seed = sentence_scores(item, kind, stacked[kind])["normalised_entropy"][1:]  # [seed, layer, head]
        assert np.allclose(found.scores["normalised_entropy"].untrained, by_seed.mean(axis=(0, 2)))


def test_the_order_of_sentences_does_not_matter() -> None:
    items = [random_observed(seed=seed, n_src=6 + seed) for seed in range(3)]
    forward, backward = Tally(), Tally()
    for i in range(3):
        forward.add(i, items[i], with_untrained(items[i], seed=i))
        backward.add(2 - i, items[2 - i], with_untrained(items[2 - i], seed=2 - i))
    one, two = forward.result().kinds["cross"], backward.result().kinds["cross"]
    assert np.array_equal(one.single["diagonal"].own, two.single["diagonal"].own)
    assert np.array_equal(one.corpus["coverage_spread"].estimate.low, two.corpus["coverage_spread"].estimate.low)


def test_a_place_that_no_sentence_has_is_not_a_number() -> None:
    found = probed(3, encoder=(HEADS["uniform"],)).kinds["encoder"].scores["duplicate"]
    assert found.sentences == 0
    assert np.isnan(found.mean).all()
    assert shortfall(found, 0, 0) == float("inf")


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="no sentence"):
        Tally().result()


def test_every_statistic_is_described() -> None:
    found = probed(3, alignment=((0,), (1,)))
    for kind in found.kinds.values():
        for name in kind.scores:
            assert name.removesuffix(WITHOUT_SINKS) in STATISTICS
