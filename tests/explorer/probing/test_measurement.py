"""Statistics of heads over a sample, and the roles of heads: planted heads must be recognised."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.decoding.attention_maps import diagonal, mirror
from explorer.probing.measurement import (
    STATISTICS,
    WITHOUT_SINKS,
    Probe,
    SentenceScores,
    Tally,
    sentence_scores,
    summarised,
)
from explorer.probing.pattern_cells import lexical_cells
from explorer.probing.roles import (
    MARGIN,
    MIN_SENTENCES,
    NO_ROLE,
    TOO_FEW,
    evidence,
    evidence_row,
    role_of,
    second_job,
    shortfall,
)
from explorer.probing.tables import clearest_first, counted
from model.analysis import bootstrap
from model.analysis.recorded_batches import observe, untrained_like, written_sample
from model.checkpoint import load_model
from model.config import AttentionKind
from model.data import get_task
from tests.explorer.probed import HEADS, Head, mixed, observed, one_hot, probe_of, random_observed, with_untrained
from tests.fuzz.inputs import _TIMES
from tests.paths import ROOT
from tests.some import some


def sizes(count: int = MIN_SENTENCES) -> list[tuple[int, int]]:
    """Source and target of `count` sentences of 6 to 14 tokens."""
    return [(6 + i % 9, 6 + (i * 5) % 9) for i in range(count)]


def probed(count: int = MIN_SENTENCES, **heads: Any) -> Probe:
    """The planted heads measured on sentences of several lengths."""
    return probe_of(observed(*size, **heads) for size in sizes(count))


def names(probe: Probe, kind: AttentionKind) -> list[str]:
    found = probe.kinds[kind]
    return [role_of(found, *place).name for place in np.ndindex(found.n_layers, found.n_heads)]


SINK = "sink: first token"
ROLES = {
    "previous": "previous token",
    "first": SINK,
    "itself": "itself",
    "uniform": NO_ROLE,
    "sink and previous": f"{SINK} + previous token",
}


def test_planted_heads_are_named() -> None:
    encoder = ROLES | {"end": "sink: end of sentence", "next": "next token"}
    probe = probed(encoder=tuple(map(HEADS.get, encoder)), decoder=tuple(map(HEADS.get, ROLES)))
    assert names(probe, "encoder") == list(encoder.values())
    assert names(probe, "decoder") == list(ROLES.values())
    perfect = probe.kinds["encoder"]
    for name in ("previous", "previous" + WITHOUT_SINKS):
        assert perfect.scores[name].mean[0, 0] == 1.0
    items = []
    for n_src, n_tgt in sizes():
        straight, back = diagonal(n_tgt, n_src), mirror(n_tgt, n_src)
        cross = (lambda q, n, s=straight: one_hot(int(s[q]), n), lambda q, n, b=back: one_hot(int(b[q]), n))
        items.append(observed(n_src, n_tgt, cross=(*cross, HEADS["end"], HEADS["uniform"])))
    assert names(probe_of(items), "cross") == ["diagonal", "mirror", "sink: end of sentence", NO_ROLE]


@pytest.mark.parametrize(
    ("head", "role"),
    [
        (mixed(lambda q: q - 1, 0.2), NO_ROLE),  # below the margin
        (lambda q, n: 0.9 * one_hot(0, n) + 0.1 * one_hot(q - 1, n), SINK),  # all sink: no second role
    ],
)
def test_a_weak_pattern_is_no_role(head: Head, role: str) -> None:
    found = role_of(probed(encoder=(head,)).kinds["encoder"], 0, 0)
    assert found.name == role
    assert role != NO_ROLE or found.judged == ("previous" + WITHOUT_SINKS,)


def test_few_sentences_show_no_role() -> None:
    probe = probed(MIN_SENTENCES - 1, encoder=(HEADS["previous"],))
    role = role_of(probe.kinds["encoder"], 0, 0)
    assert (role.name, role.clear) == (TOO_FEW, False)
    assert str(MIN_SENTENCES - 1) in role.note
    with pytest.raises(ValueError, match="no sentence"):
        probe_of([])
    nowhere = probe.kinds["encoder"].scores["duplicate"]  # a place that no sentence has
    assert nowhere.sentences == 0
    assert np.isnan(nowhere.mean).all()
    assert shortfall(nowhere, 0, 0) == float("inf")


def repeated(n: int, start: int) -> tuple[int, ...]:
    """Ids of which the second half repeats the first."""
    half = range(start, start + (n + 1) // 2)
    return (*half, *half)[:n]


def test_planted_induction_heads_are_named() -> None:
    """A head that looks at the token after the earlier copy, and one that looks at the copy itself."""

    def looks(ids: tuple[int, ...], shift: int) -> Head:
        def row(q: int, n: int) -> np.ndarray:
            copies = [j for j in range(1, q) if j < n and ids[j - 1] == ids[q - 1]] if q else []
            return one_hot(copies[-1] + shift, n) if copies else HEADS["uniform"](q, n)

        return row

    items = []
    for ids in (repeated(n, 40) for n, _ in sizes()):
        decoder = (looks(ids, 1), looks(ids, 0), HEADS["uniform"])
        items.append(observed(7, len(ids) + 1, decoder=decoder, read_ids=ids))
    assert names(probe_of(items), "decoder") == ["induction", "duplicate token", NO_ROLE]


def test_a_planted_lexical_head_is_told_from_one_that_knows_positions() -> None:
    """Translations in an order of their own: looking along the diagonal finds many of them, but knows no words."""
    items, rng = [], np.random.default_rng(5)
    for n, _ in sizes(MIN_SENTENCES + 10):  # a few sentences have no two distances
        order = np.arange(n - 1)
        for j in range(0, n - 2, 2):  # neighbours change places now and then
            if rng.random() < 0.5:
                order[[j, j + 1]] = order[[j + 1, j]]

        def lexical(q: int, keys: int, order: np.ndarray = order) -> np.ndarray:
            return one_hot(int(order[q]) if q < len(order) else keys - 1, keys)

        def read(q: int, keys: int, order: np.ndarray = order) -> np.ndarray:
            return one_hot(int(order[q - 1]) if q else keys - 1, keys)

        heads = (lexical, read, HEADS["itself"], HEADS["uniform"], HEADS["end"])
        items.append(observed(n, n, cross=heads, alignment=tuple((int(key),) for key in order)))
    probe = probe_of(items)
    lexical_names = ["lexical (predicts)", "lexical (just read)"]
    assert names(probe, "cross") == [*lexical_names, "diagonal", NO_ROLE, "sink: end of sentence"]
    assert probe.gold == "tokens"
    # Where all partners lie alike, words cannot be told from positions.
    alike = probed(cross=(HEADS["itself"],), alignment=tuple((i,) for i in range(8)))
    assert not names(alike, "cross")[0].startswith("lexical")


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


def test_a_head_keeps_its_role_whatever_the_lengths() -> None:
    """A third of its weight on the next token: clear in each sentence, though short and long ones differ by more."""
    third = mixed(lambda q: q + 1, 0.35)
    found = probe_of(observed(5 if i % 2 else 24, 5, encoder=(third,)) for i in range(MIN_SENTENCES)).kinds["encoder"]
    item = found.scores["next" + WITHOUT_SINKS]
    assert item.uniform_std > 0.13, "the sample needs lengths that differ"
    assert float(item.mean[0, 0]) < item.uniform + item.uniform_std + MARGIN
    assert role_of(found, 0, 0).name == "next token"


def test_a_second_job_passes_the_test_of_a_role_on_other_cells() -> None:
    def both(share: float) -> Head:
        return lambda q, n: share * one_hot(q - 1, n) + (1 - share) * one_hot(q + 1, n)

    found = probed(encoder=(HEADS["sink and previous"], both(0.55), both(0.8))).kinds["encoder"]
    jobs = [second_job(found, role_of(found, 0, head), 0, head) for head in range(3)]
    assert jobs == [None, "next", None], "the last one is below the margin"
    rows, _, said = evidence(found, role_of(found, 0, 1), 0, 1)
    assert [row["judged by"] for row in rows] == ["previous token, sinks left out", "next token"]
    assert "a second job" in said
    straight = observed(9, 9, cross=(HEADS["itself"],), alignment=tuple((i,) for i in range(8)))
    cross = probe_of([straight] * MIN_SENTENCES).kinds["cross"]
    assert role_of(cross, 0, 0).clear
    assert second_job(cross, role_of(cross, 0, 0), 0, 0) is None, "the diagonal has the same cells"


def test_the_clearest_head_comes_first_by_the_numbers_in_its_row() -> None:
    def both(q: int, n: int) -> np.ndarray:
        return 0.5 * one_hot(0, n) + 0.5 * one_hot(q - 1, n)

    planted = probed(encoder=(mixed(lambda q: q + 1, 0.5), mixed(lambda q: q + 1, 0.8), both))
    rows = list(clearest_first(planted, ["encoder"], ()).values())
    assert [row["role"] for row in rows] == [f"{SINK} + previous token", "next token", "next token"], (
        "the clearer first; a sink first of two roles, as on its thumbnail"
    )
    lows = [float(row["above uniform"].split("(+")[1].split(" ")[0]) for row in rows]
    assert lows == sorted(lows, reverse=True), "of two roles, the numbers are those of the one beside the sink"
    assert lows[0] > planted.kinds["encoder"].scores["first"].over_uniform.low[0, 2] + 0.1, "which is not the first"
    assert counted(planted) == "3 of 5 heads have a clear role. 1 of them has two."
    assert "two" not in counted(probed(encoder=(HEADS["previous"], HEADS["next"])))


def test_evidence_holds_score_baselines_and_size() -> None:
    found = probed(encoder=(HEADS["previous"],)).kinds["encoder"]
    (row,), meaning, _ = evidence(found, role_of(found, 0, 0), 0, 0)
    item = found.scores["previous" + WITHOUT_SINKS]
    value, low, high = item.over_uniform.at(0, 0)
    assert value == pytest.approx(1 - item.uniform)
    assert row["mean"] == "1.00 (1.00 to 1.00)"
    assert row["above uniform"] == f"+{value:.2f} (+{low:.2f} to +{high:.2f})"
    value, low, high = (end - item.untrained_std[0] for end in item.over_untrained.at(0, 0))
    assert row["above untrained, less 1 SD"] == f"+{value:.2f} (+{low:.2f} to +{high:.2f})"
    assert meaning == "Previous token, sinks left out: weight on the token before."
    assert row["sentences"] == f"{item.sentences}"


def test_an_end_just_below_the_margin_is_not_rounded_up_to_it() -> None:
    found = probed(encoder=(HEADS["previous"],)).kinds["encoder"]
    name = "previous" + WITHOUT_SINKS
    item = found.scores[name]
    low = replace(item.over_uniform, low=np.full_like(item.over_uniform.low, MARGIN - 0.002))
    for uniform, decimals in ((low, 3), (item.over_uniform, 2)):
        scores = {**found.scores, name: replace(item, over_uniform=uniform)}
        said = evidence_row(replace(found, scores=scores), name, 0, 0)["above uniform"]
        assert (f"(+{MARGIN - 0.002:.3f} to" in said) is (decimals == 3)
        assert len(said.split(" ")[0]) == len("+0.") + decimals


def test_every_statistic_has_a_meaning_of_its_own() -> None:
    assert not [name for name, each in STATISTICS.items() if each.full.startswith("the same")]
    straight = observed(9, 9, cross=(HEADS["itself"],), alignment=tuple((i,) for i in range(8)))
    (_, meaning, _) = evidence(found := probe_of([straight] * MIN_SENTENCES).kinds["cross"], role_of(found, 0, 0), 0, 0)
    assert "weight on the right source token of what the row" in meaning


@pytest.mark.slow
@pytest.mark.parametrize("name", some(("adjective-swap", "reverse", "dates"), 3))
def test_untrained_models_get_no_role(name: str) -> None:
    """No head of an untrained model gets a role, whichever other untrained models are the baseline."""
    loaded = load_model(ROOT / "checkpoints" / name)
    examples = get_task(loaded.data_config.task, split_seed=0).splits["test"]
    some = examples[::12][:80] if len(examples[::12]) >= MIN_SENTENCES else examples[:80]
    sample = written_sample(some, loaded.source, loaded.target, loaded.model_config.max_positions)
    for own in (101, 102)[:_TIMES]:
        tally, models = Tally(), [untrained_like(loaded.model, seed) for seed in (own, 1, 2, 3, 4, 5)]
        for index, item, weights in observe(models, sample, loaded.source, loaded.target):
            tally.add(index, item, weights)
        probe = tally.result()
        assert {role for kind in probe.kinds for role in names(probe, kind)} == {NO_ROLE}


def test_uniform_attention_is_its_own_baseline() -> None:
    found = probed(encoder=(HEADS["uniform"],), cross=(HEADS["uniform"],), decoder=(HEADS["uniform"],))
    for kind in found.kinds.values():
        for name, item in kind.scores.items():
            assert np.allclose(item.mean, item.uniform, atol=1e-6, equal_nan=True), name


def test_means_and_spreads_over_sentences_and_seeds() -> None:
    items = [random_observed(seed=seed, n_src=6 + seed, n_tgt=5 + seed) for seed in range(4)]
    probe = probe_of(items)
    assert (probe.sentences, probe.seeds) == (4, 5)
    models = [with_untrained(item, seed=i)["encoder"] for i, item in enumerate(items)]
    # [sentence, model, head]; the model itself comes before the untrained ones.
    scores = np.array(
        [
            [sentence_scores(item, "encoder", weights)["next"][0] for weights in each]
            for item, each in zip(items, models, strict=True)
        ]
    )
    found, own, seeds = probe.kinds["encoder"].scores["next"], scores[:, 0], scores[:, 1:].mean(axis=0)
    assert np.allclose(probe.kinds["encoder"].single["next"].own[:, 0], own)
    assert np.allclose((found.mean[0], found.std[0]), (own.mean(axis=0), own.std(axis=0)))
    assert np.allclose((found.untrained[0], found.untrained_std[0]), (seeds.mean(), seeds.std()))
    assert found.sentences == 4


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


def test_each_difference_is_taken_from_its_own_baseline() -> None:
    rng = np.random.default_rng(0)

    def drawn() -> SentenceScores:
        own = rng.random((40, 2, 3))
        own[rng.random(40) < 0.2] = np.nan
        return SentenceScores(own, rng.random(40), rng.random((40, 2)), rng.random((2, 6)))

    items = {"one": drawn(), "two": drawn()}
    for name, found in summarised(items).items():
        item = items[name]
        for estimate, values in (
            (found.estimate, item.own),
            (found.over_uniform, item.own - item.uniform[:, None, None]),
            (found.over_untrained, item.own - item.untrained[:, :, None]),
        ):
            alone = bootstrap.of_mean(values)
            for part in ("value", "low", "high"):
                assert np.allclose(getattr(estimate, part), getattr(alone, part))
        assert found.sentences == int(np.isfinite(item.own).all(axis=(1, 2)).sum())
    assert summarised({}) == {}
