"""Checks computed from a translation of `reverse`."""

from typing import get_args

import pytest

from explorer.decoding.score_parts import part_label
from explorer.decoding.translator import Translator
from explorer.lessons.checks import CHECKS, Live, answer
from explorer.lessons.checks.registry import Heads
from explorer.lessons.expressions import Term, TermError
from model.analysis.score_terms import grouped
from model.checkpoint import load_model
from model.config import AttentionKind, DecodeConfig
from model.folder import summarize
from tests.paths import CHECKPOINTS


def opened(model: str, text: str) -> Live:
    translator = Translator(load_model(CHECKPOINTS / model))
    return Live(translator, translator.translate(text, DecodeConfig()), summarize(CHECKPOINTS / model))


@pytest.fixture(scope="module")
def live() -> Live:
    return opened("reverse", "hello")


@pytest.mark.parametrize("name", CHECKS)
def test_a_place_that_is_not_there_gets_a_message(live: Live, name: str) -> None:
    samples = {AttentionKind: "cross", int: "99", float: "2", Heads: "cross.9.9", str: "nothing"}
    anywhere = ["tokens", "heads", "head_size", "masked_cells", "masked_weight", "curve", "card_says", "stays"]
    check = CHECKS[name]
    kinds = [check.kinds[key] for key in check.needs]
    words = [samples.get(kind) or get_args(kind)[0] for kind in kinds]
    term = Term(name, tuple(zip(check.needs, words, strict=True)))
    if not check.needs or name in anywhere:
        assert answer(term, live) is not None
        return
    with pytest.raises(TermError, match="has no answer for reverse and “hello”"):
        answer(term, live)


def test_the_shares_of_a_score_sum_to_1_and_a_sentence_is_not_patched_with_itself() -> None:
    live = opened("adjective-swap", "I read red books")
    terms = live.translator.explain(live.translation, ("cross", 1, 2), 2).terms
    _, _, keys = grouped(terms.table_above_row(2, 3), terms.query_parts, terms.key_parts)
    place = (("kind", "cross"), ("layer", "2"), ("head", "3"), ("row", "3"), ("key", "4"))
    shares = [answer(Term("share_of_key", (*place, ("part", part_label(part)))), live) for part in keys]
    assert sum(map(float, map(str, shares))) == pytest.approx(1)
    with pytest.raises(TermError, match="Both sentences are the same"):
        answer(Term("patched_token", (("other", "I read red books"), ("row", "3"), ("position", "4"))), live)
