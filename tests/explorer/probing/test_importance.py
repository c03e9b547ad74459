"""Sentences about the importance of heads, computed from given numbers."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.charts.measured_heads import layer_head_map
from explorer.probing.importance import Importance, PruningCurve
from explorer.probing.random_heads import DRAWS, RandomHeads
from model.analysis.bootstrap import Estimate
from model.analysis.importance import Ablation
from model.config import AttentionKind

LOSS: dict[AttentionKind, list[list[float]]] = {"encoder": [[0.5, -0.0004]], "decoder": [[0.1]], "cross": [[2.0]]}


def around(values: np.ndarray, width: float) -> Estimate:
    return Estimate(values, values - width, values + width)


@pytest.fixture
def importance() -> Importance:
    loss = {kind: np.array(values) for kind, values in LOSS.items()}
    changes = {kind: around(values, 0.05) for kind, values in loss.items()}
    accuracy = {kind: around(-values / 10, 0.01) for kind, values in loss.items()}
    return Importance(Ablation(1.0, 0.9, changes, accuracy), 1, changes)


def test_rows_begin_with_the_most_important_head(importance: Importance) -> None:
    heads = ["cross L1 H1", "encoder L1 H1", "decoder L1 H1", "encoder L1 H2"]
    assert [row["head"] for row in importance.rows()] == heads
    first, *_, last = importance.rows()
    points = "−20.0 (−21.0 to −19.0)"
    changes = ["+2.000 (+1.950 to +2.050)", "+2.000 (+1.950 to +2.050)"]
    assert list(first.values()) == [1, "cross L1 H1", *changes, points]
    assert last["loss, zeroed (nats)"] == "0.000 (−0.050 to +0.050)", "in the unit and with the digits of the maps"
    small = replace(importance.ablation, loss_interval={"cross": around(np.array([[3e-5]]), 1e-6)})
    assert replace(importance, ablation=small).words(("cross", 0, 0)) == "+0.0000300 (+0.0000290 to +0.0000310)"


def test_sentences_carry_rounded_numbers_with_their_intervals(importance: Importance) -> None:
    summary, (rows, one) = importance.summary(200), importance.of_head(("encoder", 0, 0))
    assert [tuple(row.values()) for row in rows] == [
        ("loss, zeroed (nats)", "+0.500 (+0.450 to +0.550)"),
        ("loss, mean instead (nats)", "+0.500 (+0.450 to +0.550)"),
        ("right tokens (points)", "−5.0 (−6.0 to −4.0)"),
    ]
    assert len(replace(importance, by_mean=None).of_head(("encoder", 0, 0))[0]) == 2
    for said, numbers in (
        (summary, "the loss is highest without cross L1 H1, by +2.000 (+1.950 to +2.050) nats per token"),
        (
            summary,
            "Of 4 heads, 3 raise the loss when they are switched off, 0 lower it, and 1 cannot be told from zero",
        ),
        (summary, "If no head mattered, about 0.1 of 4 would seem to raise it by chance, and as many to lower it."),
        (one, "Over 1 sentence, with 95 % intervals"),
        (one, "The loss of the whole model is 1.000 nats per token. Of 4 heads, this one has rank 2."),
        (importance.to_try(), "the loss rises most without cross L1 H1, encoder L1 H1 and decoder L1 H1."),
        (importance.words(("encoder", 0, 1)), "0.000 (−0.050 to +0.050), not distinguishable from zero"),
    ):
        assert numbers in said
    assert importance.span == (0, 2), "no head is clearly better off"
    cross = importance.ablation.loss_interval["cross"]
    cross.low[:] = 0.4
    assert "The intervals of 2 heads reach that far: the largest of them is likely" in importance.summary(200)
    for clear, explained in ((np.array([[True, False]]), True), (np.array([[True, True]]), False), (None, False)):
        plot = layer_head_map(np.ones((1, 2)), "cross", "change", span=(0, 1), clear=clear)
        assert ("In brackets: cannot be told from zero." in plot.caption) is explained
        assert ("(1.00)" in plot.figure.data[0]["text"][0]) is explained
        assert "Bold" not in plot.caption
    named = layer_head_map(np.ones((1, 2)), "cross", "change", span=(0, 1), named=[(0, 1)])
    assert list(named.figure.data[0]["text"][0]) == ["1.00", "<b>1.00</b>"]
    assert "Bold: heads that have their role by this score." in named.caption


def curve(*factors: float, random: list[list[float]]) -> PruningCurve:
    """A curve whose perplexity is multiplied by these factors, beside random orders, each by its own."""
    losses, by_chance = np.log([1.0, *factors]), np.log([[1.0, *line] for line in random])
    changes = around(losses, np.log(1.25))
    return PruningCurve((0, 1, 2), tuple(losses), changes, by_chance, 4, 5)


def test_the_curve_is_in_percent_of_the_whole_model() -> None:
    falling = curve(2, 4, random=[[2, 4], [4, 8]])
    assert falling.remaining_quality() == pytest.approx([100, 50, 25])
    assert np.allclose(falling.interval(), ([80, 40, 20], [125, 62.5, 31.25]))
    assert np.allclose(falling.random_quality(), [[100, 50, 25], [100, 25, 12.5]])
    for said in (
        "Probability per token is at 90 % of the whole model's or more with up to 0 of 2 heads switched off, and below "
        "with 1. With 0 off, the interval contains 90 %. The least important first holds out no longer than some of 2 "
        "random orders, which are first seen below with 1. Tried were 0, 1 and 2 heads, nothing between.",
        "The order was chosen on 4 sentences and scored on 5 others",
    ):
        assert said in falling.summary()


@pytest.mark.parametrize(
    ("factors", "random", "said"),
    [
        ((1, 2), [[2, 2], [3, 4]], "longer than each of 2 random orders, which are first seen below with 1."),
        ((1, 2), [[2, 2], [1, 4]], "no longer than some of 2 random orders, which are first seen below with 1 to 2."),
        (
            (2, 2),
            [[2, 2], [1, 1]],
            "some of 2 random orders, which are first seen below with 1 to more than 2.",
        ),
        ((1, 1), [[1, 2], [1, 2]], "stays above 90 % however many of 2 heads are switched off. "),
    ],
)
def test_an_order_is_compared_with_random_ones(
    factors: tuple[float, ...], random: list[list[float]], said: str
) -> None:
    assert said in curve(*factors, random=random).summary()


def test_a_set_stands_out_beside_random_ones_in_one_of_twenty_cases() -> None:
    values = [round(0.1 * nth, 1) for nth in range(DRAWS + 1)]
    said = [RandomHeads(tuple({*values} - {value}), others=True, alike=True).beside(value) for value in values]
    claims = [words.rpartition(", ")[2] for words in said]
    assert len(values) == 20
    assert claims[0] == "more every time", "a head that matters less than all of the random ones"
    assert claims[-1] == "less every time"
    assert set(claims[1:-1]) == {"so this set does not stand out"}
    assert said[-1] == "as many random other heads of the same kinds, drawn 19 times: 0.000 to +1.800, less every time"
    every = RandomHeads((0.1, 0.2), others=True, alike=False)
    assert every.beside(0.3) == "as many other heads, all 2 sets of them: +0.100 to +0.200, less every time"
    one = RandomHeads((0.8,), others=True, alike=False).beside(0.3)
    assert one == "as many other heads, of which there is one set: +0.800, more"
