"""Words aligned by their counts, links of words, and their error rate."""

import math
from collections import defaultdict

import numpy as np
import pytest

from model.analysis.statistical_alignment import (
    EMPTY,
    NOTHING,
    ROUNDS,
    SMOOTHING,
    TENSION,
    error_rate_on_scenes,
    prior,
    train_aligner,
)
from model.analysis.word_alignment import error_rate, word_counts, word_gold, word_links
from model.data.scenes import scenes
from model.data.task import Example, WordLinks
from model.text.tokenizer import Encoding

PAIRS = [
    ("the dog sleeps", "der Hund schläft"),
    ("the cat sleeps", "die Katze schläft"),
    ("a dog eats", "ein Hund frisst"),
    ("a cat eats fish", "eine Katze frisst Fisch"),
    ("the dog sees the cat", "der Hund sieht die Katze"),
]


def digamma(x: float) -> float:
    """ψ(x) by recurrence and its asymptotic series, without the library that the aligner uses."""
    shift = 0.0
    while x < 20:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def looped(pairs: list[tuple[list[str], list[str]]]) -> dict[tuple[str, str], float]:
    """t(f | e) by the textbook's loops (Dyer et al. 2013; the empty word is "")."""
    met = {(e, f) for source, target in pairs for e in ("", *source) for f in target}
    t = dict.fromkeys(met, 1.0)
    for _ in range(ROUNDS):
        counts = dict.fromkeys(met, SMOOTHING)
        for source, target in pairs:
            n, m = len(source), len(target)
            for j, f in enumerate(target, start=1):
                near = [math.exp(-TENSION * abs(i / n - j / m)) for i in range(1, n + 1)]
                weights = [EMPTY * t["", f]]
                weights += [(1 - EMPTY) * near[i] / sum(near) * t[e, f] for i, e in enumerate(source)]
                for e, weight in zip(("", *source), weights, strict=True):
                    counts[e, f] += weight / sum(weights)
        total: dict[str, float] = defaultdict(float)
        for (e, _), count in counts.items():
            total[e] += count
        t = {(e, f): math.exp(digamma(count) - digamma(total[e])) for (e, f), count in counts.items()}
    return t


def test_the_table_is_that_of_the_textbook_in_loops() -> None:
    aligner = train_aligner(PAIRS)
    split = [(one.lower().split(), two.lower().split()) for one, two in PAIRS]
    for table, pairs in ((aligner.forward, split), (aligner.backward, [(two, one) for one, two in split])):
        names = {number: word for word, number in table.sources.items()} | {NOTHING: ""}
        written = {number: word for word, number in table.targets.items()}
        found = {
            (names[int(cell) // len(written)], written[int(cell) % len(written)]): float(value)
            for cell, value in zip(table.cells, table.t, strict=True)
        }
        expected = looped(pairs)
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(expected[key], rel=1e-6) for key in expected)


def test_words_that_always_come_together_are_linked() -> None:
    links = train_aligner(PAIRS).links("The cat sees the dog", "Die Katze sieht der Hund")
    assert {(1, 1), (2, 2), (4, 4)} <= links.sure <= links.possible
    assert links.source == ((0, 3), (4, 7), (8, 12), (13, 16), (17, 20))


@pytest.mark.parametrize(
    ("source", "target", "linked"),
    [
        ("", "", set()),
        ("unheard words", "nie gehört", {(0, 0), (1, 1)}),  # only their places speak
        ("fish", "der", set()),  # seen, but never together: the empty word has met both
        ("sees", "ein", set()),
    ],
)
def test_words_that_never_came_together_are_linked_by_their_places_or_not(
    source: str, target: str, linked: set[tuple[int, int]]
) -> None:
    links = train_aligner(PAIRS).links(source, target)
    assert links.sure == links.possible == linked
    with pytest.raises(ValueError, match="no sentence pairs"):
        train_aligner([("", "a"), ("b", "  ")])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (7, 2)])
def test_the_prior_is_a_distribution_with_its_mode_on_the_diagonal(n: int, m: int) -> None:
    rows = prior(n, m)
    assert np.allclose(rows.sum(axis=1), 1)
    assert np.allclose(rows[:, 0], EMPTY)
    for j, row in enumerate(rows[:, 1:]):
        apart = np.abs((np.arange(n) + 1) / n - (j + 1) / m)
        assert row[apart.argmin()] == row.max()


def test_on_the_scenes_it_is_far_better_than_the_diagonal() -> None:
    hits = total = 0
    for scene in scenes():
        n, m = len(scene.example("en").links.source), len(scene.example("en").links.target)
        diagonal = {(round(j * (n - 1) / max(m - 1, 1)), j) for j in range(m)}
        hits += len(diagonal & scene.sure) + len(diagonal & scene.possible)
        total += len(diagonal) + len(scene.sure)
    straight = 1 - hits / total
    assert error_rate_on_scenes("en") == pytest.approx(0.229, abs=0.005)
    assert error_rate_on_scenes("en") < straight - 0.2
    assert error_rate_on_scenes("de") == pytest.approx(error_rate_on_scenes("en"), abs=0.02)


# "playing ball now" / "spielt Ball jetzt", of which both verbs are two tokens.
SOURCE = Encoding((5, 6, 7, 8), ("play", "ing", "ball", "now"), ((0, 4), (4, 7), (8, 12), (13, 16)), (0, 0, 1, 2), "x")
TARGET = Encoding((5, 6, 7, 8), ("sp", "ielt", "Ball", "jetzt"), ((0, 2), (2, 6), (7, 11), (12, 17)), (0, 0, 1, 2), "y")
LINKS = WordLinks(
    ((0, 7), (8, 12), (13, 16)),
    ((0, 6), (7, 11), (12, 17)),
    frozenset({(0, 0), (1, 1)}),
    frozenset({(0, 0), (1, 1), (2, 2), (1, 0)}),
)


def weights(*keys: int) -> np.ndarray:
    """[query, key] with these largest keys; five keys, the last of them <eos>."""
    return np.stack([np.eye(5)[key] * 0.6 + 0.08 for key in keys])


@pytest.mark.parametrize(
    ("keys", "read", "suggested"),
    [
        # By row: "sp", "ielt", "Ball", "jetzt", <eos>.
        ((0, 1, 2, 3, 4), False, {(0, 0), (1, 1), (2, 2)}),
        ((0, 2, 2, 4, 0), False, {(0, 0), (1, 0), (1, 1)}),  # <eos> as a key, and the row of <eos>, suggest nothing
        ((3, 3, 3, 3, 3), False, {(2, 0), (2, 1), (2, 2)}),
        ((4, 0, 1, 2, 3), True, {(0, 0), (1, 1), (2, 2)}),  # the row that reads a token is one further down
    ],
)
def test_links_between_words_and_their_error_rate(keys: tuple[int, ...], read: bool, suggested: set) -> None:
    gold = word_gold(LINKS, SOURCE, TARGET)
    found = word_links(weights(*keys), gold, read=read)
    assert {(int(i), int(j)) for j, i in np.argwhere(found > 0.5)} == suggested
    assert np.allclose(found, found.round())
    rate = error_rate(*word_counts(weights(*keys), gold, read=read))
    a, s, p = suggested, LINKS.sure, LINKS.possible
    assert rate == pytest.approx(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))


def test_a_guess_is_counted_as_often_as_it_is_right() -> None:
    """Uniform weights: the expected counts over all choices of a key for each token, each alike."""
    gold = word_gold(LINKS, SOURCE, TARGET)
    hits, total = word_counts(np.full((5, 5), 0.2), gold)
    rows = np.array(np.meshgrid(*[range(5)] * 4, indexing="ij")).reshape(4, -1).T
    counted = []
    for keys in rows:
        a = {((0, 0, 1, 2)[key], (0, 0, 1, 2)[token]) for token, key in enumerate(keys) if key < 4}
        counted.append((len(a & LINKS.sure) + len(a & LINKS.possible), len(a) + len(LINKS.sure)))
    assert np.allclose((hits, total), np.mean(counted, axis=0))


def test_links_read_in_the_other_direction() -> None:
    other = LINKS.swapped()
    assert other.swapped() == LINKS
    assert (other.source, other.possible) == (LINKS.target, {(0, 0), (1, 1), (2, 2), (0, 1)})
    assert np.array_equal(word_gold(other, TARGET, SOURCE).possible, word_gold(LINKS, SOURCE, TARGET).possible.T)
    assert Example("x", "y", links=LINKS).links is LINKS
