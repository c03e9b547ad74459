import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.config import EOS, PAD, SOS, UNK
from model.decoding.beam import beam_search, hypotheses
from model.decoding.search import OutputRules, follow, greedy, length_penalty
from tests.model.tables import (
    GARDEN_PATH,
    PENALTIES,
    B,
    TableModel,
    beam,
    best_by_beam,
    every_sentence,
    random_tables,
)

LETTERS_ONLY = OutputRules((PAD, SOS, UNK))


def test_beam_finds_what_greedy_misses() -> None:
    model = TableModel([GARDEN_PATH])
    best = best_by_beam(model, beam(2))[0]
    assert best.tokens == (B,)
    assert best.finished
    assert best.log_prob == pytest.approx(math.log(0.45 * 0.9))
    [greedily] = follow(list(greedy(model.step, model.start(), limit=6)))
    assert best.log_prob > greedily.log_prob


@given(model=random_tables(depth=4), penalty=st.sampled_from(PENALTIES), alpha=st.sampled_from([0.0, 0.6, 1.0]))
def test_a_beam_of_one_is_greedy(model: TableModel, penalty: str, alpha: float) -> None:
    [greedily] = follow(list(greedy(model.step, model.start(), limit=6)))
    [found] = best_by_beam(model, beam(1, penalty, alpha))
    assert found.tokens == greedily.tokens
    assert found.finished == greedily.finished
    assert found.log_prob == pytest.approx(greedily.log_prob, abs=1e-5)


@given(model=random_tables(depth=3), penalty=st.sampled_from(PENALTIES), alpha=st.sampled_from([0.5, 1.0, 2.0]))
def test_a_beam_wide_enough_finds_every_sentence_in_order(model: TableModel, penalty: str, alpha: float) -> None:
    config = beam(40, penalty, alpha)
    found = best_by_beam(model, config, limit=4, rules=LETTERS_ONLY)
    expected = every_sentence(model.tables[0], config, limit=4)
    assert [one.score for one in found[: len(expected)]] == pytest.approx([score for score, _ in expected], abs=1e-4)
    assert found[0].tokens == expected[0][1]
    assert all(one.finished and math.isfinite(one.score) for one in found)


@given(model=random_tables(depth=4), penalty=st.sampled_from(PENALTIES), width=st.integers(1, 5))
def test_scores_are_totals_over_the_length_penalty(model: TableModel, penalty: str, width: int) -> None:
    config = beam(width, penalty, 0.7)
    found = best_by_beam(model, config)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len(found) <= width
    assert len({one.tokens for one in found}) == len(found), "no hypothesis twice"
    for one in found:
        steps = [model.tables[0].get(one.path[:i], {EOS: 1.0})[token] for i, token in enumerate(one.path)]
        assert one.log_prob == pytest.approx(sum(map(math.log, steps)), abs=1e-4)
        assert one.score == pytest.approx(one.log_prob / length_penalty(penalty, 0.7, len(one.path)), abs=1e-4)


@given(model=random_tables(n=3, depth=4), width=st.integers(1, 4), penalty=st.sampled_from(PENALTIES))
def test_a_batch_of_beams_is_single_beams(model: TableModel, width: int, penalty: str) -> None:
    config = beam(width, penalty)
    limits = [6, 2, 4]
    steps = list(beam_search(model.step, model.start(), limit=limits, config=config))
    together = hypotheses(steps, 3, width)
    for table, limit, found in zip(model.tables, limits, together, strict=True):
        alone = best_by_beam(TableModel([table]), config, limit=limit)
        assert [one.tokens for one in found] == [one.tokens for one in alone]
        assert [one.score for one in found] == pytest.approx([one.score for one in alone], abs=1e-5)
